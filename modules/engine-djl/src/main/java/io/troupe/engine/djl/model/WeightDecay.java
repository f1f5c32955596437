package io.troupe.engine.djl.model;

import static io.troupe.core.Require.require;

import io.troupe.engine.djl.model.DecoderLayout.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The tensors that AdamW's weight decay applies to: all matrices except those that a pattern
 * exempts. Vectors, which are norms and biases, never decay.
 *
 * @param spared names of exempt tensors, in which {@code *} matches any characters
 */
public record WeightDecay(List<String> spared) {
  /** Decays all matrices. */
  public static final WeightDecay MATRICES = new WeightDecay(List.of());

  private static final int MATRIX = 2;

  public WeightDecay {
    spared = List.copyOf(spared);
  }

  /** Whether weight decay applies to a tensor. */
  public boolean actsOn(Parameter parameter) {
    return parameter.shape().size() == MATRIX
        && spared.stream().noneMatch(name -> matches(name, parameter));
  }

  /**
   * Checks that every pattern matches a tensor.
   *
   * @throws IllegalArgumentException if a pattern matches no tensor; the message names the pattern
   *     and an existing tensor
   */
  void requireNames(DecoderLayout layout) {
    for (String name : spared) {
      require(
          layout.parameters().stream().anyMatch(parameter -> matches(name, parameter)),
          "training.no_decay names '%s', and no tensor that is trained has that name; they are"
              + " called such as %s",
          name,
          layout.parameters().getFirst().name());
    }
  }

  private static boolean matches(String name, Parameter parameter) {
    String pattern =
        Arrays.stream(name.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
    return parameter.name().matches(pattern);
  }
}
