package io.troupe.engine.djl.decode;

import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.ProgramWeights;
import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.djl.torch.TorchValue;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The weights of a sampler, on its device and in its precision. The program joins the matrices of a
 * snapshot once, so that each token costs fewer operations. It joins one layer at a time, so that
 * no second whole copy of the weights ever exists.
 */
public final class DecodeWeights implements ProgramWeights, AutoCloseable {
  private final Decoder decoder;
  private TorchValue joined = TorchValue.of(List.of());

  public DecodeWeights(Decoder decoder) {
    this.decoder = decoder;
  }

  /**
   * Loads a snapshot.
   *
   * @throws IllegalArgumentException if the snapshot is of another policy; the weights stay as they
   *     were
   * @throws io.troupe.engine.djl.torch.TorchOutOfMemoryException if memory ran out; there may then
   *     be no weights until a snapshot is loaded
   */
  public void load(WeightSnapshot snapshot) {
    Map<String, MemorySegment> sources = ModelWeights.sources(decoder.layout(), snapshot);
    joined.close(); // memory need not have room for the old and the new weights together
    joined = TorchValue.of(List.of());
    try (Parts parts = new Parts(sources)) {
      joined = parts.join();
    }
  }

  /** The tensors that exist while a snapshot is loaded. */
  private final class Parts implements AutoCloseable {
    private final DecoderLayout layout = decoder.layout();
    private final Map<String, MemorySegment> sources;
    private final NativeTensor absent = NativeTensor.zeros(ElementType.FLOAT32, 0);
    private final Map<Integer, NativeTensor> prepared = new HashMap<>();
    private final List<NativeTensor> made = new ArrayList<>();

    Parts(Map<String, MemorySegment> sources) {
      this.sources = sources;
    }

    TorchValue join() {
      part("joined_start", layout.start(), made);
      List<NativeTensor> end = new ArrayList<>();
      try {
        part("joined_end", layout.end(), end);
        releasePrepared();
        for (int layer = 0; layer < layout.layers(); layer++) {
          part("joined_layer", layout.layer(layer), made);
          releasePrepared();
        }
      } finally {
        made.addAll(end);
      }
      return TorchValue.of(made);
    }

    private void part(String method, List<Integer> slots, List<NativeTensor> into) {
      List<NativeTensor> weights =
          slots.stream()
              .map(
                  slot ->
                      slot == DecoderLayout.ABSENT
                          ? absent
                          : prepared.computeIfAbsent(slot, this::prepare))
              .toList();
      try (TorchValue all = TorchValue.of(weights);
          TorchProgram.Call call = decoder.joining(method)) {
        for (long handle : call.with(all).tensorHandles()) {
          into.add(NativeTensor.opaque(handle));
        }
      }
    }

    private NativeTensor prepare(int slot) {
      DecoderLayout.Parameter parameter = layout.parameters().get(slot);
      NativeTensor tensor = decoder.zerosThere(ElementType.FLOAT32, parameter.extents());
      tensor.copyFrom(Objects.requireNonNull(sources.get(parameter.name())));
      return tensor;
    }

    private void releasePrepared() {
      prepared.values().forEach(NativeTensor::close);
      prepared.clear();
    }

    @Override
    public void close() {
      releasePrepared();
      made.forEach(NativeTensor::close);
      absent.close();
    }
  }

  @Override
  public TorchValue all() {
    return joined;
  }

  @Override
  public void close() {
    joined.close();
  }
}
