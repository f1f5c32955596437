package io.troupe.engine.djl.model;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.ProgramWeights;
import io.troupe.engine.djl.torch.TorchValue;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightMemory;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A set of tensors in the shape of the decoder's weights: weights, or one of AdamW's moments. */
public final class ModelWeights implements ProgramWeights, AutoCloseable {
  private static final long CACHE_LINE = 64;

  private final Device device;
  private final DecoderLayout layout;
  private final List<NativeTensor> tensors;
  private final NativeTensor absent;
  private final TorchValue all;

  /** Writes the numbers of a parameter, in row-major order. */
  public interface Filler {
    void fill(DecoderLayout.Parameter parameter, MemorySegment memory);
  }

  /** Makes a tensor of zeros. */
  @FunctionalInterface
  public interface Maker {
    NativeTensor zeros(Device device, ElementType type, long... shape);
  }

  /**
   * Takes tensors over.
   *
   * @param made one a parameter, then one without elements
   */
  private ModelWeights(DecoderLayout layout, Device device, List<NativeTensor> made) {
    this.device = device;
    this.layout = layout;
    this.tensors = List.copyOf(made.subList(0, layout.parameters().size()));
    this.absent = made.getLast();
    this.all = TorchValue.of(slots(tensors));
  }

  public NativeTensor tensor(int parameter) {
    return tensors.get(parameter);
  }

  /** The tensors in the program's order. */
  List<NativeTensor> slots() {
    return slots(tensors);
  }

  /** Tensors that stand for these, in the program's order. */
  List<NativeTensor> slots(List<NativeTensor> of) {
    return layout.slots().stream()
        .map(slot -> slot == DecoderLayout.ABSENT ? absent : of.get(slot))
        .toList();
  }

  /** New handles on the same memory that collect gradients of their own. */
  List<NativeTensor> leaves() {
    return tensors.stream().map(NativeTensor::leaf).toList();
  }

  /** Zeros on the host. */
  static ModelWeights zeros(DecoderLayout layout) {
    return zeros(layout, Device.host());
  }

  public static ModelWeights zeros(DecoderLayout layout, Device device) {
    return zeros(layout, device, NativeTensor::zeros);
  }

  /** Of tensors that somebody makes; if one cannot be made, the others are closed. */
  public static ModelWeights zeros(DecoderLayout layout, Device device, Maker maker) {
    List<NativeTensor> made = new ArrayList<>();
    try {
      for (DecoderLayout.Parameter parameter : layout.parameters()) {
        made.add(maker.zeros(device, ElementType.FLOAT32, parameter.extents()));
      }
      made.add(maker.zeros(device, ElementType.FLOAT32, 0));
      return new ModelWeights(layout, device, made);
    } catch (RuntimeException | Error failure) {
      made.forEach(NativeTensor::close);
      throw failure;
    }
  }

  public static ModelWeights random(DecoderLayout layout, Device device, long seed, double std) {
    ModelWeights weights = zeros(layout, device);
    return weights.after(
        () -> weights.fill((parameter, memory) -> WeightInit.fill(parameter, seed, std, memory)));
  }

  /** These, once something is done to them; closed if that fails. */
  private ModelWeights after(Runnable work) {
    try {
      work.run();
      return this;
    } catch (RuntimeException | Error failure) {
      close();
      throw failure;
    }
  }

  /** Where they are. */
  public Device device() {
    return device;
  }

  ModelWeights copy() {
    ModelWeights copy = zeros(layout, device);
    return copy.after(
        () -> {
          for (int i = 0; i < tensors.size(); i++) {
            copy.tensors.get(i).assign(tensors.get(i), layout.parameters().get(i).extents());
          }
        });
  }

  /** Replaces all numbers. */
  public void fill(Filler filler) {
    for (int i = 0; i < tensors.size(); i++) {
      DecoderLayout.Parameter parameter = layout.parameters().get(i);
      NativeTensor tensor = tensors.get(i);
      if (tensor.onHost()) {
        filler.fill(parameter, tensor.memory());
      } else {
        try (NativeTensor staged = NativeTensor.zeros(ElementType.FLOAT32, parameter.extents())) {
          filler.fill(parameter, staged.memory());
          tensor.assign(staged, parameter.extents());
        }
      }
    }
  }

  /** What decays and what does not, for the optimizer; the caller closes it. */
  ParameterGroups moved(WeightDecay decay) {
    return ParameterGroups.of(tensors, layout, decay);
  }

  public DecoderLayout layout() {
    return layout;
  }

  @Override
  public TorchValue all() {
    return all;
  }

  /** The tensors by name, in name order: views of their memory, or copies of what is elsewhere. */
  public List<WeightSnapshot.Tensor> views() {
    List<WeightSnapshot.Tensor> views = new ArrayList<>();
    for (int i = 0; i < tensors.size(); i++) {
      DecoderLayout.Parameter parameter = layout.parameters().get(i);
      NativeTensor tensor = tensors.get(i);
      views.add(
          new WeightSnapshot.Tensor(
              parameter.name(),
              parameter.shape(),
              tensor.onHost() ? tensor.memory() : fetched(tensor, parameter)));
    }
    views.sort(Comparator.comparing(WeightSnapshot.Tensor::name));
    return views;
  }

  private static MemorySegment fetched(NativeTensor tensor, DecoderLayout.Parameter parameter) {
    try (NativeTensor staged = tensor.toHost(ElementType.FLOAT32, parameter.size())) {
      return copied(staged.memory());
    }
  }

  private static MemorySegment copied(MemorySegment memory) {
    long bytes = memory.byteSize();
    MemorySegment copy = WeightMemory.arena(bytes).allocate(bytes, CACHE_LINE);
    copy.copyFrom(memory);
    return copy.asReadOnly();
  }

  /** A copy in Java's native memory, freed when nobody reads it any more. */
  WeightSnapshot snapshot(WeightVersion version) {
    List<WeightSnapshot.Tensor> copies = copies();
    return new WeightSnapshot(version, TensorDigest.of(copies), copies);
  }

  /** The same of the tensors alone. */
  List<WeightSnapshot.Tensor> copies() {
    return views().stream()
        .map(
            view ->
                device.equals(Device.host())
                    ? new WeightSnapshot.Tensor(view.name(), view.shape(), copied(view.data()))
                    : view)
        .toList();
  }

  /**
   * Copies a snapshot in.
   *
   * @throws IllegalArgumentException if a name, a shape or a size differs; nothing is copied then
   */
  public void load(WeightSnapshot snapshot) {
    Map<String, MemorySegment> sources = sources(layout, snapshot);
    fill(
        (parameter, memory) ->
            memory.copyFrom(Objects.requireNonNull(sources.get(parameter.name()))));
  }

  /**
   * The numbers of each parameter in a snapshot.
   *
   * @throws IllegalArgumentException if a name, a shape or a size differs
   */
  public static Map<String, MemorySegment> sources(DecoderLayout layout, WeightSnapshot snapshot) {
    Map<String, WeightSnapshot.Tensor> offered = new HashMap<>();
    snapshot.tensors().forEach(tensor -> offered.put(tensor.name(), tensor));
    Map<String, MemorySegment> sources = new HashMap<>();
    for (DecoderLayout.Parameter parameter : layout.parameters()) {
      WeightSnapshot.Tensor tensor = offered.remove(parameter.name());
      if (tensor == null) {
        throw new IllegalArgumentException(
            "the weights %s lack %s".formatted(snapshot.version(), parameter.name()));
      }
      require(
          tensor.shape().equals(parameter.shape()),
          "%s of the weights %s has shape %s, but the policy's has %s",
          parameter.name(),
          snapshot.version(),
          tensor.shape(),
          parameter.shape());
      long bytes = parameter.size() * Float.BYTES;
      require(
          tensor.data().byteSize() == bytes,
          "%s of the weights %s has %d bytes, not %d",
          parameter.name(),
          snapshot.version(),
          tensor.data().byteSize(),
          bytes);
      sources.put(parameter.name(), tensor.data());
    }
    require(
        offered.isEmpty(),
        "the weights %s hold tensors the policy has not: %s",
        snapshot.version(),
        offered.keySet());
    return sources;
  }

  @Override
  public void close() {
    all.close();
    tensors.forEach(NativeTensor::close);
    absent.close();
  }
}
