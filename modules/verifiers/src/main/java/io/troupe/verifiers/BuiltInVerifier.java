package io.troupe.verifiers;

import java.io.IOException;
import java.util.Map;

/**
 * A verifier that comes with Troupe and whose options do not change what ends it.
 *
 * @param factory reads the options that it knows; all others are refused afterwards
 */
public record BuiltInVerifier(
    String name, String summary, Isolation isolation, boolean runsCode, Factory factory)
    implements VerifierProvider {
  /** What {@link VerifierProvider#create} does. */
  @FunctionalInterface
  public interface Factory {
    /**
     * Makes a verifier.
     *
     * @throws IOException if something it needs is missing on this machine
     */
    Verifier create(VerifierOptions options) throws IOException;
  }

  /** One that does not run programs. */
  public BuiltInVerifier(String name, String summary, Isolation isolation, Factory factory) {
    this(name, summary, isolation, false, factory);
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
