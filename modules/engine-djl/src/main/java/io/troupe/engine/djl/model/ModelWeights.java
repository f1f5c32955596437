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
   * Takes ownership of tensors.
   *
   * @param made one tensor for each parameter, then one without elements
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

  /** Returns tensors that replace these, in the program's order. */
  List<NativeTensor> slots(List<NativeTensor> of) {
    return layout.slots().stream()
        .map(slot -> slot == DecoderLayout.ABSENT ? absent : of.get(slot))
        .toList();
  }

  /** Returns new handles on the same memory, with gradients of their own. */
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

  /**
   * Creates weights from the tensors of a maker; if the maker fails for one tensor, the others are
   * closed.
   */
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

  /** Returns these weights after some work on them, or closes them if the work fails. */
  private ModelWeights after(Runnable work) {
    try {
      work.run();
      return this;
    } catch (RuntimeException | Error failure) {
      close();
      throw failure;
    }
  }

  /** Returns the device of the weights. */
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

  /**
   * Returns the tensors with and without weight decay, for the optimizer; the caller closes them.
   */
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

  /**
   * The tensors by name, in name order: views of memory on the host, or copies of tensors on
   * another device.
   */
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

  /** Returns a copy in Java's native memory, which is freed some time after its last use. */
  WeightSnapshot snapshot(WeightVersion version) {
    List<WeightSnapshot.Tensor> copies = copies();
    return new WeightSnapshot(version, TensorDigest.of(copies), copies);
  }

  /** Returns copies of the tensors in Java's native memory. */
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
   * Returns the data of each parameter in a snapshot.
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
