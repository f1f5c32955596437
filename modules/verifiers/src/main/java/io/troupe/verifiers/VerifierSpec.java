package io.troupe.verifiers;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Which verifier, made how.
 *
 * @param name as its {@link VerifierProvider} says
 * @param options as text; what they mean is the verifier's own
 * @param plugins jars to look for providers in, besides the class path
 */
public record VerifierSpec(String name, Map<String, String> options, List<Path> plugins) {
  public VerifierSpec {
    options = Map.copyOf(options);
    plugins = List.copyOf(plugins);
  }

  /** A built-in verifier with its defaults. */
  public static VerifierSpec named(String name) {
    return new VerifierSpec(name, Map.of(), List.of());
  }
}
