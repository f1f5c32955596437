package io.troupe.engine.djl;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.djl.NativeTensor.DType;
import io.troupe.engine.safetensors.TensorDigest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A set of tensors in the shape of the decoder's weights: weights, or one of AdamW's moments. */
final class Weights implements AutoCloseable {
  private static final long CACHE_LINE = 64;

  private final DecoderLayout layout;
  private final List<NativeTensor> tensors;
  private final NativeTensor absent;
  private final Moved moved;
  private final Value all;

  private Weights(DecoderLayout layout) {
    this.layout = layout;
    this.tensors =
        layout.parameters().stream()
            .map(parameter -> NativeTensor.zeros(DType.FLOAT32, parameter.extents()))
            .toList();
    this.moved = Moved.of(tensors, layout);
    this.absent = NativeTensor.zeros(DType.FLOAT32, 0);
    this.all = Value.of(slots(tensors));
  }

  NativeTensor tensor(int parameter) {
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

  static Weights zeros(DecoderLayout layout) {
    return new Weights(layout);
  }

  static Weights random(DecoderLayout layout, long seed, double std) {
    Weights weights = new Weights(layout);
    for (int i = 0; i < weights.tensors.size(); i++) {
      WeightInit.fill(layout.parameters().get(i), seed, std, weights.tensors.get(i).memory());
    }
    return weights;
  }

  Weights copy() {
    Weights copy = new Weights(layout);
    for (int i = 0; i < tensors.size(); i++) {
      copy.tensors.get(i).memory().copyFrom(tensors.get(i).memory());
    }
    return copy;
  }

  /** Sets every number to 0. */
  void clear() {
    tensors.forEach(tensor -> tensor.memory().fill((byte) 0));
  }

  /** Matrices and vectors apart, for the optimizer. */
  Moved moved() {
    return moved;
  }

  DecoderLayout layout() {
    return layout;
  }

  /** The weights in the program's order. */
  Value all() {
    return all;
  }

  /** The tensors by name, in name order, as views of their memory. */
  List<WeightSnapshot.Tensor> views() {
    List<WeightSnapshot.Tensor> views = new ArrayList<>();
    for (int i = 0; i < tensors.size(); i++) {
      DecoderLayout.Parameter parameter = layout.parameters().get(i);
      views.add(
          new WeightSnapshot.Tensor(parameter.name(), parameter.shape(), tensors.get(i).memory()));
    }
    views.sort(Comparator.comparing(WeightSnapshot.Tensor::name));
    return views;
  }

  /** A copy in Java's native memory, freed when nobody reads it any more. */
  WeightSnapshot snapshot(WeightVersion version) {
    List<WeightSnapshot.Tensor> copies =
        views().stream()
            .map(
                view -> {
                  MemorySegment copy = Arena.ofAuto().allocate(view.data().byteSize(), CACHE_LINE);
                  copy.copyFrom(view.data());
                  return new WeightSnapshot.Tensor(view.name(), view.shape(), copy.asReadOnly());
                })
            .toList();
    return new WeightSnapshot(version, TensorDigest.of(copies), copies);
  }

  /**
   * Copies a snapshot in.
   *
   * @throws IllegalArgumentException if a name, a shape or a size differs; nothing is copied then
   */
  void load(WeightSnapshot snapshot) {
    Map<String, WeightSnapshot.Tensor> offered = new HashMap<>();
    snapshot.tensors().forEach(tensor -> offered.put(tensor.name(), tensor));
    List<MemorySegment> sources = new ArrayList<>();
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
      sources.add(tensor.data());
    }
    require(
        offered.isEmpty(),
        "the weights %s hold tensors the policy has not: %s",
        snapshot.version(),
        offered.keySet());
    for (int i = 0; i < sources.size(); i++) {
      MemorySegment target = tensors.get(i).memory();
      require(
          sources.get(i).byteSize() == target.byteSize(),
          "%s of the weights %s has %d bytes, not %d",
          layout.parameters().get(i).name(),
          snapshot.version(),
          sources.get(i).byteSize(),
          target.byteSize());
    }
    for (int i = 0; i < sources.size(); i++) {
      tensors.get(i).memory().copyFrom(sources.get(i));
    }
  }

  @Override
  public void close() {
    moved.close();
    all.close();
    tensors.forEach(NativeTensor::close);
    absent.close();
  }
}
