package io.troupe.engine.djl.train;

import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.DecoderLayout.Parameter;
import io.troupe.engine.djl.model.GradientLeaves;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.model.WeightDecay;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The position of each tensor in one flat array: first the tensors with weight decay, then the
 * others, as {@link io.troupe.engine.parallel.ShardedAdamW} expects them.
 */
final class FlatLayout {
  private final List<Parameter> parameters;
  private final Map<String, Long> offsets = new HashMap<>();
  private final long size;
  private final long decayed;

  FlatLayout(DecoderLayout layout, WeightDecay decay) {
    this.parameters = layout.parameters();
    long end = 0;
    long border = 0;
    for (Parameter parameter :
        Stream.concat(
                parameters.stream().filter(decay::actsOn),
                parameters.stream().filter(one -> !decay.actsOn(one)))
            .toList()) {
      offsets.put(parameter.name(), end);
      end += parameter.size();
      border = decay.actsOn(parameter) ? end : border;
    }
    this.size = end;
    this.decayed = border;
  }

  /** Returns the number of elements. */
  long size() {
    return size;
  }

  /** Returns the number of elements, from the first on, that weight decay applies to. */
  long decayed() {
    return decayed;
  }

  private MemorySegment place(Parameter parameter, MemorySegment flat) {
    long offset = Objects.requireNonNull(offsets.get(parameter.name()), parameter.name());
    return flat.asSlice(offset * Float.BYTES, parameter.size() * Float.BYTES);
  }

  /** Copies tensors out. */
  void copy(ModelWeights from, MemorySegment flat) {
    for (int i = 0; i < parameters.size(); i++) {
      copy(parameters.get(i), from.tensor(i), flat);
    }
  }

  /** Copies the gradients of a step's leaves out. */
  void copyGradients(GradientLeaves from, MemorySegment flat) {
    for (int i = 0; i < parameters.size(); i++) {
      try (NativeTensor gradient = from.gradient(i)) {
        copy(parameters.get(i), gradient, flat);
      }
    }
  }

  private void copy(Parameter parameter, NativeTensor from, MemorySegment flat) {
    try (NativeTensor staged = from.toHost(ElementType.FLOAT32, parameter.size())) {
      place(parameter, flat).copyFrom(staged.memory());
    }
  }

  /** Copies tensors in. */
  void fill(ModelWeights to, MemorySegment flat) {
    to.fill((parameter, memory) -> memory.copyFrom(place(parameter, flat)));
  }
}
