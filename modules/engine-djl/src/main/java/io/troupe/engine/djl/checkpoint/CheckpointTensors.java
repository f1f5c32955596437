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

/**
 * Tensors of a file that are to become weights.
 *
 * @param source the file that messages name
 */
record CheckpointTensors(Path source, Map<String, StoredTensor> tensors) {
  private static final String OUTPUT = "lm_head.weight";
  private static final String FREQUENCIES = ".rotary_emb.inv_freq";

  /**
   * Checks that the tensors with a prefix are those of the layout, and that the file holds {@code
   * sets} times the number of tensors of the layout.
   *
   * @throws IOException if a tensor is missing, has another shape, or is unexpected
   */
  void check(DecoderLayout layout, String prefix, int sets) throws IOException {
    for (DecoderLayout.Parameter parameter : layout.parameters()) {
      String name = prefix + parameter.name();
      StoredTensor tensor = tensors.get(name);
      if (tensor == null) {
        throw new IOException("%s lacks the tensor %s".formatted(source, name));
      }
      if (!tensor.shape().equals(parameter.shape())) {
        throw new IOException(
            "%s: %s has shape %s, but this run's policy has %s"
                .formatted(source, name, tensor.shape(), parameter.shape()));
      }
    }
    int expected = sets * layout.parameters().size();
    if (tensors.size() != expected) {
      throw new IOException(
          "%s holds %d tensors, but this run's policy has %d"
              .formatted(source, tensors.size(), expected));
    }
  }

  /**
   * Checks the tensors of a model that another program wrote. Two kinds of surplus tensors repeat
   * the configuration and are ignored: the output matrix of tied embeddings, and rotary
   * frequencies.
   *
   * @throws IOException if a tensor is missing, has another shape, or is unexpected
   */
  void checkForeign(DecoderLayout layout) throws IOException {
    List<String> names = layout.parameters().stream().map(p -> p.name()).toList();
    for (DecoderLayout.Parameter parameter : layout.parameters()) {
      StoredTensor tensor = tensors.get(parameter.name());
      if (tensor == null) {
        throw new IOException(
            "%s lacks the tensor %s, which config.json calls for"
                .formatted(source, parameter.name()));
      }
      if (!tensor.shape().equals(parameter.shape())) {
        throw new IOException(
            "%s: %s has shape %s, but config.json makes it %s"
                .formatted(source, parameter.name(), tensor.shape(), parameter.shape()));
      }
    }
    List<String> surplus =
        tensors.keySet().stream()
            .filter(name -> !names.contains(name))
            .filter(name -> !name.equals(OUTPUT) && !name.endsWith(FREQUENCIES))
            .sorted()
            .toList();
    if (!surplus.isEmpty()) {
      throw new IOException(
          "%s holds %d tensors that this architecture has not, the first of them %s"
              .formatted(source, surplus.size(), surplus.getFirst()));
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
