package io.troupe.engine.djl.model;

import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.TorchValue;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Trained weights as the leaves of one micro-batch's graph. The leaves share the memory of the
 * weights, and closing them frees their gradients.
 */
public final class GradientLeaves implements AutoCloseable {
  private final List<Integer> parameters;
  private final List<NativeTensor> tensors;
  private final TorchValue all;
  private final boolean adapted;

  private GradientLeaves(
      List<Integer> parameters, List<NativeTensor> tensors, TorchValue all, boolean adapted) {
    this.parameters = List.copyOf(parameters);
    this.tensors = List.copyOf(tensors);
    this.all = all;
    this.adapted = adapted;
  }

  /**
   * Leaves of all weights.
   *
   * @param inParts whether the gradient of the output matrix is added by parts, without a leaf
   */
  static GradientLeaves of(ModelWeights weights, boolean inParts) {
    return of(weights, weights.layout().slots(), inParts);
  }

  /** Returns the leaves of the weights above the layers, for a graph that begins there. */
  static GradientLeaves ofHead(ModelWeights weights, boolean inParts) {
    return of(weights, weights.layout().end(), inParts);
  }

  /**
   * The output matrix is the last of the slots; it is a leaf all the same if it is another, too.
   */
  private static GradientLeaves of(ModelWeights weights, List<Integer> slots, boolean inParts) {
    SortedSet<Integer> trained =
        new TreeSet<>(inParts ? slots.subList(0, slots.size() - 1) : slots);
    trained.remove(DecoderLayout.ABSENT);
    List<NativeTensor> tensors = new ArrayList<>(weights.tensors());
    List<NativeTensor> leaves = new ArrayList<>();
    for (int parameter : trained) {
      NativeTensor leaf = weights.tensor(parameter).leaf();
      leaves.add(leaf);
      tensors.set(parameter, leaf);
    }
    return new GradientLeaves(
        List.copyOf(trained), leaves, TorchValue.of(weights.slots(tensors)), false);
  }

  /** Leaves of the adapters of frozen weights. */
  static GradientLeaves of(ModelWeights base, LowRankAdapters adapters) {
    List<NativeTensor> leaves =
        adapters.weights().tensors().stream().map(NativeTensor::leaf).toList();
    return of(base, adapters, leaves, leaves);
  }

  /** No leaves: there are no adapters above the layers. */
  static GradientLeaves ofHead(ModelWeights base, LowRankAdapters adapters) {
    return of(base, adapters, adapters.weights().tensors(), List.of());
  }

  private static GradientLeaves of(
      ModelWeights base,
      LowRankAdapters adapters,
      List<NativeTensor> parts,
      List<NativeTensor> leaves) {
    List<NativeTensor> all = new ArrayList<>(base.slots());
    NativeTensor output = all.removeLast();
    all.addAll(adapters.weights().slots(parts));
    all.add(adapters.scale());
    all.add(output);
    List<Integer> parameters = new ArrayList<>();
    for (int i = 0; i < leaves.size(); i++) {
      parameters.add(i);
    }
    return new GradientLeaves(parameters, leaves, TorchValue.of(all), true);
  }

  /** The parameters whose tensors are leaves, in the order of {@link #tensors}. */
  List<Integer> parameters() {
    return parameters;
  }

  /** The leaves. */
  List<NativeTensor> tensors() {
    return tensors;
  }

  /** Returns all weights in the program's order. */
  TorchValue all() {
    return all;
  }

  /** Whether adapters are among the weights. */
  boolean adapted() {
    return adapted;
  }

  @Override
  public void close() {
    all.close();
    tensors.forEach(NativeTensor::close);
  }
}
