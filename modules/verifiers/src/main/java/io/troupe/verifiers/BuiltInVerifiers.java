package io.troupe.verifiers;

import io.troupe.verifiers.Gsm8kVerifier.Mode;
import java.io.IOException;
import java.util.List;

/** The verifiers that come with Troupe. */
final class BuiltInVerifiers {
  /** What {@link VerifierProvider#create} does. */
  private interface Factory {
    Verifier create(VerifierOptions options) throws IOException;
  }

  private record Entry(String name, String summary, Isolation isolation, Factory factory)
      implements VerifierProvider {
    @Override
    public Verifier create(VerifierOptions options) throws IOException {
      Verifier verifier = factory.create(options);
      options.refuseOthers(name);
      return verifier;
    }
  }

  private BuiltInVerifiers() {}

  static List<VerifierProvider> all() {
    return List.of(
        new Entry(
            "numeric",
            "one number and nothing else, equal to the answer",
            Isolation.LINEAR,
            options ->
                new NumericVerifier(
                    options.flag("padded", false), options.flag("reversed", false))),
        new Entry(
            "gsm8k",
            "the final number of a worked solution, as GSM8K is scored",
            Isolation.LINEAR,
            options ->
                new Gsm8kVerifier(
                    options.choice("mode", Mode.STRICT),
                    options.number("format_reward", 0, 0, 0.999))));
  }
}
