package io.troupe.engine.djl.model;

import io.troupe.engine.djl.model.DecoderLayout.Kind;
import io.troupe.engine.djl.model.DecoderLayout.Parameter;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * The low-rank adapters of a policy: A [rank, in] and B [out, rank] of each target, named as PEFT
 * names them, and their scale.
 *
 * <p>A begins uniform within 1 / sqrt(in), which is PyTorch's Kaiming initialisation of a linear
 * layer; B begins as zeros.
 */
public final class LowRankAdapters implements AutoCloseable {
  private static final String PREFIX = "base_model.model.";
  private static final String FIRST = "lora_A";
  private static final String SUFFIX = ".weight";

  private final Tuning.LowRank settings;
  private final List<Integer> adapted;
  private final ModelWeights weights;
  private final NativeTensor scale;

  private LowRankAdapters(
      Tuning.LowRank settings,
      List<Integer> adapted,
      FlatLayout layout,
      Device device,
      double scale) {
    this.settings = settings;
    this.adapted = List.copyOf(adapted);
    this.weights = ModelWeights.zeros(layout, device);
    this.scale = NativeTensor.zeros(device, ElementType.FLOAT32, 1);
    try (NativeTensor staged = NativeTensor.zeros(ElementType.FLOAT32, 1)) {
      staged.memory().set(ValueLayout.JAVA_FLOAT, 0, (float) scale);
      this.scale.assign(staged, 1);
    }
  }

  /** Creates new adapters on the device of the weights. */
  static LowRankAdapters random(
      Tuning.LowRank settings, ModelWeights frozen, WeightDecay decay, long seed) {
    DecoderLayout base = frozen.layout();
    List<Integer> adapted = new ArrayList<>();
    List<Parameter> parameters = new ArrayList<>();
    List<Integer> slots = new ArrayList<>();
    // The output matrix is last and has no adapter.
    for (int slot : base.slots().subList(0, base.slots().size() - 1)) {
      if (slot == DecoderLayout.ABSENT || !isTarget(settings, base.parameters().get(slot))) {
        slots.add(DecoderLayout.ABSENT);
        slots.add(DecoderLayout.ABSENT);
      } else {
        Parameter matrix = base.parameters().get(slot);
        adapted.add(slot);
        slots.add(parameters.size());
        slots.add(parameters.size() + 1);
        parameters.add(part(matrix, FIRST, settings.rank(), matrix.shape().get(1)));
        parameters.add(part(matrix, "lora_B", matrix.shape().get(0), settings.rank()));
      }
    }
    LowRankAdapters adapters =
        new LowRankAdapters(
            settings,
            adapted,
            FlatLayout.of(new DecoderLayout(parameters, slots), decay),
            frozen.device(),
            settings.scale());
    adapters.weights.fill(
        (parameter, memory) -> {
          if (parameter.name().endsWith(FIRST + SUFFIX)) {
            fill(parameter, seed, memory);
          }
        });
    return adapters;
  }

  private static boolean isTarget(Tuning.LowRank settings, Parameter parameter) {
    return settings.targets().stream()
        .anyMatch(target -> parameter.name().endsWith("." + target.module() + SUFFIX));
  }

  private static Parameter part(Parameter matrix, String part, long rows, long columns) {
    String module = matrix.name().substring(0, matrix.name().length() - SUFFIX.length());
    return new Parameter(
        PREFIX + module + "." + part + SUFFIX, Kind.MATRIX, List.of(rows, columns));
  }

  private static void fill(Parameter a, long seed, MemorySegment memory) {
    Random uniform = new Random(CounterRandom.mix(CounterRandom.mix(seed) ^ a.name().hashCode()));
    double bound = 1 / Math.sqrt((double) a.shape().get(1));
    for (long i = 0; i < memory.byteSize() / Float.BYTES; i++) {
      memory.setAtIndex(
          ValueLayout.JAVA_FLOAT, i, (float) (bound * (2 * uniform.nextDouble() - 1)));
    }
  }

  public Tuning.LowRank settings() {
    return settings;
  }

  /** A and B of every target. */
  public ModelWeights weights() {
    return weights;
  }

  NativeTensor scale() {
    return scale;
  }

  /** Returns gradients of the adapters in the program's order, with none for any other weight. */
  List<NativeTensor> gradientSlots(ModelWeights gradients) {
    List<NativeTensor> slots = new ArrayList<>();
    for (int i = 0; i < weights.layout().slots().size() / 2; i++) {
      slots.add(gradients.absent());
    }
    slots.addAll(gradients.slots());
    slots.add(gradients.absent()); // of the scale
    slots.add(gradients.absent()); // of the output matrix
    return slots;
  }

  /**
   * Returns the base with the adapters merged in, as copies in Java's native memory in name order;
   * a tensor at a time, so that the device never has room for two models.
   */
  public List<WeightSnapshot.Tensor> mergedCopies(Decoder decoder, ModelWeights base) {
    List<WeightSnapshot.Tensor> copies = new ArrayList<>();
    for (int i = 0; i < base.tensors().size(); i++) {
      Parameter parameter = base.layout().parameters().get(i);
      int adapter = adapted.indexOf(i);
      if (adapter < 0) {
        copies.add(copy(parameter, base.tensor(i)));
        continue;
      }
      try (TorchProgram.Call call = decoder.call("merged");
          NativeTensor sum =
              call.with(base.tensor(i))
                  .with(weights.tensor(2 * adapter))
                  .with(weights.tensor(2 * adapter + 1))
                  .with(scale)
                  .opaque()) {
        copies.add(copy(parameter, sum));
      }
    }
    copies.sort(Comparator.comparing(WeightSnapshot.Tensor::name));
    return copies;
  }

  private static WeightSnapshot.Tensor copy(Parameter parameter, NativeTensor tensor) {
    return new WeightSnapshot.Tensor(
        parameter.name(), parameter.shape(), ModelWeights.fetched(tensor, parameter.size()));
  }

  /** Returns a float32 copy of the base with the adapters merged in; the caller closes it. */
  public ModelWeights merged(Decoder decoder, ModelWeights base) {
    ModelWeights merged = base.copyIn(decoder, Precision.FLOAT32);
    for (int i = 0; i < adapted.size(); i++) {
      Parameter parameter = base.layout().parameters().get(adapted.get(i));
      try (TorchProgram.Call call = decoder.call("merged");
          NativeTensor sum =
              call.with(base.tensor(adapted.get(i)))
                  .with(weights.tensor(2 * i))
                  .with(weights.tensor(2 * i + 1))
                  .with(scale)
                  .opaque()) {
        merged.tensor(adapted.get(i)).assign(sum, parameter.extents());
      }
    }
    return merged;
  }

  @Override
  public void close() {
    weights.close();
    scale.close();
  }
}
