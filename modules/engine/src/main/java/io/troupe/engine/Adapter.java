package io.troupe.engine;

import java.util.List;

/**
 * Low-rank adapters: what was trained beside a frozen base. Added to the base they make the merged
 * weights of the same snapshot.
 *
 * @param rank of the matrices; 0 for none
 * @param alpha what they add is scaled by alpha / rank
 * @param targets names of the adapted matrices, as PEFT has them: {@code q_proj}
 * @param tensors A and B of each, named as PEFT names them
 */
public record Adapter(
    int rank, double alpha, List<String> targets, List<WeightSnapshot.Tensor> tensors) {
  /** Of weights that were trained as a whole, or came without their adapters. */
  public static final Adapter NONE = new Adapter(0, 0, List.of(), List.of());

  public Adapter {
    targets = List.copyOf(targets);
    tensors = List.copyOf(tensors);
  }

  public boolean isNone() {
    return tensors.isEmpty();
  }
}
