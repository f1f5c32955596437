package io.troupe.verifiers;

import io.troupe.core.reward.JudgedBy;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/**
 * A kind of verifier, by name. This is the plug-in point: a jar that names its implementations in
 * {@code META-INF/services/io.troupe.verifiers.VerifierProvider} adds them to every command that
 * takes a verifier's name. Implementations have a public constructor without arguments.
 */
public interface VerifierProvider {
  /** The name in configurations and commands: lower case, digits and {@code -}. */
  String name();

  /** Returns the quality that the verifier rewards, in one line. */
  String summary();

  /**
   * Returns the way in which a hanging verification is ended. A process is safe for all code, and
   * the only safe answer for code from outside Troupe.
   *
   * @param options the options of the verifier
   */
  default Isolation isolation(Map<String, String> options) {
    return Isolation.PROCESS;
  }

  /**
   * Whether the verifier runs programs that completions contain. Such a verifier takes the option
   * {@code allow_unsandboxed}, and refuses to start without a sandbox unless that option is {@code
   * true}.
   */
  default boolean runsCode() {
    return false;
  }

  /** Returns what the verifier reads of a row beside the completion. */
  default JudgedBy judgedBy() {
    return new JudgedBy.AllFields();
  }

  /**
   * Whether the verifier reads the columns of a row that its expected answer is not made of: {@link
   * io.troupe.core.prompt.Prompt#row()}. The rows of its prompts are then kept in memory.
   */
  default boolean readsRow() {
    return true;
  }

  /**
   * What the verifier is shown of a completion that thinks, where its options do not say. A
   * verifier from outside Troupe is shown the whole completion, unless it says otherwise here.
   */
  default ThoughtReading thoughts() {
    return ThoughtReading.KEEP;
  }

  /**
   * Makes a verifier; all threads of its process share it.
   *
   * @throws IllegalArgumentException if an option is unknown or wrong; the message names the option
   *     and the rule
   * @throws IOException if this machine lacks something that the verifier needs
   */
  Verifier create(VerifierOptions options) throws IOException;

  /**
   * The options for evaluation, with other defaults where an option is not given: an evaluation
   * measures what a completion means, whereas a reward must not pay for guesses.
   */
  default Map<String, String> forEvaluation(Map<String, String> options) {
    return options;
  }

  /**
   * Returns how the verifier reads an expected answer, for people who look at data before a run. It
   * is cheap: microseconds for an answer. Empty if the verifier reads no mathematics.
   */
  default Optional<GoldReading> goldReading(String answer) {
    return Optional.empty();
  }
}
