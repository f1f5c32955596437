package io.troupe.verifiers;

import java.io.IOException;
import java.util.Map;

/**
 * A kind of verifier, by name. This is the plug-in point: a jar that names its implementations in
 * {@code META-INF/services/io.troupe.verifiers.VerifierProvider} adds them to every command that
 * takes a verifier's name. Implementations have a public constructor without arguments.
 */
public interface VerifierProvider {
  /** What configurations and commands call it: lower case, digits and {@code -}. */
  String name();

  /** What it rewards, in one line. */
  String summary();

  /**
   * What ends it when it hangs. The safe answer, and the one for code that comes from elsewhere, is
   * a process.
   *
   * @param options it will be made with
   */
  default Isolation isolation(Map<String, String> options) {
    return Isolation.PROCESS;
  }

  /**
   * Whether it runs programs that completions hold. Such a verifier takes the option {@code
   * allow_unsandboxed}, and refuses to start without a sandbox unless that is {@code true}.
   */
  default boolean runsCode() {
    return false;
  }

  /**
   * Makes one; it is shared by all threads of its process.
   *
   * @throws IllegalArgumentException if an option is unknown or wrong; says which and what is right
   * @throws IOException if something it needs is missing on this machine
   */
  Verifier create(VerifierOptions options) throws IOException;

  /**
   * The same options with what measures completions better than it rewards them, where they do not
   * say: an evaluation wants to know what a completion means, a reward must not pay for guesses.
   */
  default Map<String, String> forEvaluation(Map<String, String> options) {
    return options;
  }
}
