package io.troupe.engine.djl.model;

import static io.troupe.core.Require.require;

import io.troupe.engine.djl.model.DecoderLayout.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Which tensors AdamW's weight decay acts on: matrices, but for those spared by name. Vectors,
 * which are norms and biases, never decay.
 *
 * @param spared names of tensors, in which {@code *} stands for any characters
 */
public record WeightDecay(List<String> spared) {
  /** All matrices. */
  public static final WeightDecay MATRICES = new WeightDecay(List.of());

  private static final int MATRIX = 2;

  public WeightDecay {
    spared = List.copyOf(spared);
  }

  /** Whether it acts on a tensor. */
  public boolean actsOn(Parameter parameter) {
    return parameter.shape().size() == MATRIX
        && spared.stream().noneMatch(name -> matches(name, parameter));
  }

  /**
   * Checks that every name is of a tensor.
   *
   * @throws IllegalArgumentException if one is of none; names it, and a tensor there is
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
