package io.troupe.engine.djl;

import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.djl.NativeTensor.DType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A sampler's weights: what the program makes of a snapshot once, so that a token costs fewer
 * operations, and on the device and in the precision it computes in. Weights are joined a layer at
 * a time, so that no second copy of them is ever whole.
 */
final class SamplingWeights implements ProgramWeights, AutoCloseable {
  private final Decoder decoder;
  private Value joined = Value.of(List.of());

  SamplingWeights(Decoder decoder) {
    this.decoder = decoder;
  }

  /**
   * Takes a snapshot over.
   *
   * @throws IllegalArgumentException if it is of another policy; nothing is changed then
   * @throws OutOfMemoryException if there may be no weights now, until a snapshot is taken over
   */
  void load(WeightSnapshot snapshot) {
    Map<String, MemorySegment> sources = Weights.sources(decoder.layout(), snapshot);
    joined.close(); // both do not fit beside each other
    joined = Value.of(List.of());
    try (Parts parts = new Parts(sources)) {
      joined = parts.join();
    }
  }

  /** The tensors that come together while a snapshot is taken over. */
  private final class Parts implements AutoCloseable {
    private final DecoderLayout layout = decoder.layout();
    private final Map<String, MemorySegment> sources;
    private final NativeTensor absent = NativeTensor.zeros(DType.FLOAT32, 0);
    private final Map<Integer, NativeTensor> staged = new HashMap<>();
    private final List<NativeTensor> made = new ArrayList<>();

    Parts(Map<String, MemorySegment> sources) {
      this.sources = sources;
    }

    Value join() {
      part("joined_start", layout.start(), made);
      List<NativeTensor> end = new ArrayList<>();
      try {
        part("joined_end", layout.end(), end);
        unstage();
        for (int layer = 0; layer < layout.layers(); layer++) {
          part("joined_layer", layout.layer(layer), made);
          unstage();
        }
      } finally {
        made.addAll(end);
      }
      return Value.of(made);
    }

    private void part(String method, List<Integer> slots, List<NativeTensor> into) {
      List<NativeTensor> weights =
          slots.stream()
              .map(
                  slot ->
                      slot == DecoderLayout.ABSENT
                          ? absent
                          : staged.computeIfAbsent(slot, this::stage))
              .toList();
      try (Value all = Value.of(weights);
          Program.Call call = decoder.joining(method)) {
        for (long handle : call.with(all).tensorHandles()) {
          into.add(NativeTensor.opaque(handle));
        }
      }
    }

    private NativeTensor stage(int slot) {
      DecoderLayout.Parameter parameter = layout.parameters().get(slot);
      NativeTensor tensor = decoder.zeros(DType.FLOAT32, parameter.extents());
      tensor.memory().copyFrom(Objects.requireNonNull(sources.get(parameter.name())));
      return tensor;
    }

    private void unstage() {
      staged.values().forEach(NativeTensor::close);
      staged.clear();
    }

    @Override
    public void close() {
      unstage();
      made.forEach(NativeTensor::close);
      absent.close();
    }
  }

  @Override
  public Value all() {
    return joined;
  }

  @Override
  public void close() {
    joined.close();
  }
}
