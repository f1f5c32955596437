package io.troupe.verifiers;

import io.troupe.core.reward.JudgedBy;
import java.io.IOException;
import java.util.Map;

/**
 * A verifier that comes with Troupe and whose isolation does not depend on its options.
 *
 * @param thoughts what it is shown where its options do not say
 * @param factory reads the options that the verifier knows; afterwards all other options are
 *     refused
 */
public record BuiltInVerifier(
    String name,
    String summary,
    JudgedBy judgedBy,
    Isolation isolation,
    boolean runsCode,
    boolean readsRow,
    ThoughtReading thoughts,
    Factory factory)
    implements VerifierProvider {
  /** The part of {@link VerifierProvider#create} that depends on the verifier. */
  @FunctionalInterface
  public interface Factory {
    /**
     * Makes a verifier.
     *
     * @throws IOException if this machine lacks something that the verifier needs
     */
    Verifier create(VerifierOptions options) throws IOException;
  }

  /** A verifier of answers that neither runs programs nor reads rows. */
  public BuiltInVerifier(
      String name, String summary, JudgedBy judgedBy, Isolation isolation, Factory factory) {
    this(name, summary, judgedBy, isolation, false, false, ThoughtReading.DROP, factory);
  }

  @Override
  public Isolation isolation(Map<String, String> options) {
    return isolation;
  }

  @Override
  public Verifier create(VerifierOptions options) throws IOException {
    Verifier verifier = factory.create(options);
    options.refuseOthers(name);
    return verifier;
  }
}
