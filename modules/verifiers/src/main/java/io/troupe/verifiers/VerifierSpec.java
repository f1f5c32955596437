package io.troupe.verifiers;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The choice of a verifier and its options.
 *
 * @param name the name of its {@link VerifierProvider}
 * @param options the options as text; the verifier defines their meaning
 * @param plugins jars that may contain the provider, besides the class path
 */
public record VerifierSpec(String name, Map<String, String> options, List<Path> plugins) {
  public VerifierSpec {
    options = Map.copyOf(options);
    plugins = List.copyOf(plugins);
  }

  /** A built-in verifier with default options. */
  public static VerifierSpec named(String name) {
    return new VerifierSpec(name, Map.of(), List.of());
  }
}
