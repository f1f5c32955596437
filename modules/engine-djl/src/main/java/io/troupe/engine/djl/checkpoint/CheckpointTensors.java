package io.troupe.engine.djl.checkpoint;

import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.FlatLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.safetensors.StoredTensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Tensors of a file that are to become weights.
 *
 * @param source the file that messages name
 */
record CheckpointTensors(Path source, Map<String, StoredTensor> tensors) {
  /** The place that says which tensors belong to a policy. */
  enum Authority {
    /** The configuration beside the tensors. */
    CONFIGURATION("config.json calls for", "config.json makes it", "this architecture"),
    /** The run that continues. */
    RUN("this run's policy has", "this run's policy has", "this run's policy");

    private final String missing;
    private final String shape;
    private final String owner;

    Authority(String missing, String shape, String owner) {
      this.missing = missing;
      this.shape = shape;
      this.owner = owner;
    }
  }

  /**
   * Checks that the tensors are those of the layout, once with each prefix.
   *
   * @throws IOException if a tensor is missing, has another shape, or is unexpected
   */
  void check(DecoderLayout layout, Authority authority, List<String> prefixes) throws IOException {
    Set<String> surplus = new TreeSet<>(tensors.keySet());
    for (String prefix : prefixes) {
      for (DecoderLayout.Parameter parameter : layout.parameters()) {
        String name = prefix + parameter.name();
        StoredTensor tensor = tensors.get(name);
        if (tensor == null) {
          throw new IOException(
              "%s lacks the tensor %s, which %s".formatted(source, name, authority.missing));
        }
        if (!tensor.shape().equals(parameter.shape())) {
          throw new IOException(
              "%s: %s has shape %s, but %s %s"
                  .formatted(source, name, tensor.shape(), authority.shape, parameter.shape()));
        }
        surplus.remove(name);
      }
    }
    if (!surplus.isEmpty()) {
      throw new IOException(
          "%s holds %d %s that %s has not, the first of them %s; correct config.json, or remove what the model does not compute with"
              .formatted(
                  source,
                  surplus.size(),
                  surplus.size() == 1 ? "tensor" : "tensors",
                  authority.owner,
                  surplus.iterator().next()));
    }
  }

  /** Copies the tensors with a prefix into weights, as float32. */
  void copy(String prefix, ModelWeights target) {
    target.fill(
        (parameter, memory) -> {
          StoredTensor tensor = Objects.requireNonNull(tensors.get(prefix + parameter.name()));
          tensor.dtype().toFloats(tensor.data(), memory);
        });
  }

  /**
   * Copies what lies in a range of the flat array, as float32.
   *
   * @param from the first element of the range
   * @param piece float32, as long as the range
   * @param elements of the range
   */
  void copy(String prefix, FlatLayout layout, long from, NativeTensor piece, long elements) {
    for (FlatLayout.Overlap overlap : layout.overlaps(from, elements)) {
      DecoderLayout.Parameter parameter = layout.tensors().parameters().get(overlap.tensor());
      StoredTensor tensor = Objects.requireNonNull(tensors.get(prefix + parameter.name()));
      int width = tensor.dtype().bytes();
      long count = overlap.count();
      try (NativeTensor staged = NativeTensor.zeros(ElementType.FLOAT32, count);
          NativeTensor target = piece.slice(overlap.inRange(), overlap.inRange() + count)) {
        tensor
            .dtype()
            .toFloats(
                tensor.data().asSlice(overlap.inTensor() * width, count * width), staged.memory());
        target.assign(staged, count);
      }
    }
  }
}
