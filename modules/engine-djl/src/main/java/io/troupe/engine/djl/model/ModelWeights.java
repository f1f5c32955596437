package io.troupe.engine.djl.model;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.torch.ProgramWeights;
import io.troupe.engine.djl.torch.TorchProgram;
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
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * A set of tensors in the shape of the decoder's weights: weights, gradients, or one of AdamW's
 * moments. The tensors are views of one flat array.
 */
public final class ModelWeights implements ProgramWeights, AutoCloseable {
  private static final long CACHE_LINE = 64;
  private static final long TOUCHED = 1 << 20; // a matrix of a small model has a few

  private final Device device;
  private final FlatLayout flatLayout;
  private final DecoderLayout layout;
  private final NativeTensor flat;
  private final List<NativeTensor> tensors;
  private final NativeTensor absent;
  private final TorchValue all;

  /** Writes the numbers of a parameter, in row-major order. */
  public interface Filler {
    void fill(DecoderLayout.Parameter parameter, MemorySegment memory);
  }

  /** Takes ownership of a flat array. */
  private ModelWeights(FlatLayout flatLayout, Device device, NativeTensor flat) {
    this.device = device;
    this.flatLayout = flatLayout;
    this.layout = flatLayout.tensors();
    this.flat = flat;
    this.tensors = views(flat, flatLayout);
    this.absent = flat.slice(0, 0);
    this.all = TorchValue.of(slots(tensors));
  }

  private static List<NativeTensor> views(NativeTensor flat, FlatLayout layout) {
    List<NativeTensor> views = new ArrayList<>();
    for (int i = 0; i < layout.offsets().size(); i++) {
      views.add(flat.view(layout.offsets().get(i), layout.tensors().parameters().get(i).extents()));
    }
    return List.copyOf(views);
  }

  public NativeTensor tensor(int parameter) {
    return tensors.get(parameter);
  }

  /** Returns the tensors in the order of the parameters. */
  List<NativeTensor> tensors() {
    return tensors;
  }

  /** Returns the array that all tensors are views of. */
  public NativeTensor flat() {
    return flat;
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

  /** Returns a tensor without elements, in the place of a weight that does not exist. */
  NativeTensor absent() {
    return absent;
  }

  /** Zeros on the host. */
  static ModelWeights zeros(DecoderLayout layout) {
    return zeros(FlatLayout.of(layout, WeightDecay.MATRICES), Device.host());
  }

  /** Creates zeros of float32. */
  public static ModelWeights zeros(FlatLayout layout, Device device) {
    return new ModelWeights(
        layout, device, NativeTensor.zeros(device, ElementType.FLOAT32, layout.capacity()));
  }

  /** Creates zeros where and in the precision that a decoder multiplies matrices in. */
  public static ModelWeights zerosFor(Decoder decoder) {
    return zeros(FlatLayout.of(decoder.layout(), WeightDecay.MATRICES), decoder.device())
        .turnedInto(decoder);
  }

  /** Returns a copy in the precision that a decoder multiplies matrices in. */
  public ModelWeights copyFor(Decoder decoder) {
    return copyIn(decoder, decoder.precision());
  }

  /** Returns the weights in the precision of a decoder; they replace these. */
  public ModelWeights turnedInto(Decoder decoder) {
    if (decoder.precision() == Precision.FLOAT32) {
      return this;
    }
    try (this) {
      return copyFor(decoder);
    }
  }

  /** Returns a copy in a precision. */
  ModelWeights copyIn(Decoder decoder, Precision precision) {
    return new ModelWeights(flatLayout, device, decoder.converted(flat, flatLayout, precision));
  }

  /** Copies numbers in from weights of the same layout and any precision. */
  void copyFrom(Decoder decoder, ModelWeights source) {
    try (TorchProgram.Call call = decoder.call("copy")) {
      call.with(flat).with(source.flat).run();
    }
  }

  public static ModelWeights random(FlatLayout layout, Device device, long seed, double std) {
    ModelWeights weights = zeros(layout, device);
    return weights.after(
        () ->
            // Each tensor has random numbers of its own, so that threads change no bit.
            IntStream.range(0, weights.tensors.size())
                .parallel()
                .forEach(
                    i ->
                        weights.fill(
                            i,
                            (parameter, memory) -> WeightInit.fill(parameter, seed, std, memory))));
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

  /** Replaces all numbers. */
  public void fill(Filler filler) {
    for (int i = 0; i < tensors.size(); i++) {
      fill(i, filler);
    }
  }

  private void fill(int index, Filler filler) {
    DecoderLayout.Parameter parameter = layout.parameters().get(index);
    NativeTensor tensor = tensors.get(index);
    if (tensor.onHost()) {
      filler.fill(parameter, tensor.memory());
    } else {
      try (NativeTensor staged = NativeTensor.zeros(ElementType.FLOAT32, parameter.extents())) {
        filler.fill(parameter, staged.memory());
        tensor.assign(staged, parameter.extents());
      }
    }
  }

  /** Returns where the tensors are in the flat array. */
  public FlatLayout flatLayout() {
    return flatLayout;
  }

  public DecoderLayout layout() {
    return layout;
  }

  @Override
  public TorchValue all() {
    return all;
  }

  /**
   * The tensors by name, in name order: views of float32 on the host, or copies of what is
   * elsewhere or of another type.
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
              tensor.onHost() ? tensor.memory() : fetched(tensor, parameter.size())));
    }
    views.sort(Comparator.comparing(WeightSnapshot.Tensor::name));
    return views;
  }

  /** Returns a copy of a tensor in Java's native memory, as float32. */
  public static MemorySegment fetched(NativeTensor tensor, long elements) {
    MemorySegment copy = allocated(elements * Float.BYTES);
    touch(copy);
    tensor.copyTo(copy);
    return copy.asReadOnly();
  }

  /**
   * Has the system make the pages of new memory on all cores. A copy from a device would wait for
   * one core to make them: 1.5 GB/s on an H200's host, whose copies reach 15 GB/s.
   */
  private static void touch(MemorySegment fresh) {
    LongStream.range(0, Math.ceilDiv(fresh.byteSize(), TOUCHED))
        .parallel()
        .map(i -> i * TOUCHED)
        .forEach(
            from -> fresh.asSlice(from, Math.min(TOUCHED, fresh.byteSize() - from)).fill((byte) 0));
  }

  private static MemorySegment allocated(long bytes) {
    return WeightMemory.arena(bytes).allocate(bytes, CACHE_LINE);
  }

  private static MemorySegment copied(MemorySegment memory) {
    MemorySegment copy = allocated(memory.byteSize());
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
                flat.onHost()
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
    for (int i = 0; i < tensors.size(); i++) {
      String name = layout.parameters().get(i).name();
      tensors.get(i).copyFrom(Objects.requireNonNull(sources.get(name)));
    }
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
    flat.close();
  }
}
