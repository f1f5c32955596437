package io.troupe.engine.djl.model;

import static io.troupe.core.Require.require;

import io.troupe.engine.weights.Adapter;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;

/** The weights that training updates. */
public sealed interface Tuning {
  /** All weights are trained. */
  record Full() implements Tuning {}

  /**
   * Low-rank adapters of some matrices, with everything else frozen (Hu et al. 2021, LoRA): a
   * matrix W acts as W + alpha / rank · B A, with A of {@code rank} rows and B of {@code rank}
   * columns. B begins as zeros, so that training begins at the frozen policy.
   *
   * @param rank columns of B, 1 or greater
   * @param alpha the scale is alpha / rank; finite, greater than 0
   * @param targets the adapted matrices, at least one, each at most once
   */
  record LowRank(int rank, double alpha, List<Target> targets) implements Tuning {
    public LowRank {
      targets = List.copyOf(targets);
      require(rank >= 1, "the rank of an adapter is 1 or greater, not %d", rank);
      require(
          alpha > 0 && Double.isFinite(alpha),
          "the alpha of an adapter is a finite number greater than 0, not %s",
          alpha);
      require(
          !targets.isEmpty(), "adapters need at least one target; name one of q_proj to down_proj");
      require(
          targets.stream().distinct().count() == targets.size(),
          "a target of adapters is named once, but they are %s",
          targets);
    }

    double scale() {
      return alpha / rank;
    }

    /** Returns adapters of these settings with the given tensors. */
    public Adapter adapter(List<WeightSnapshot.Tensor> tensors) {
      return new Adapter(rank, alpha, targets.stream().map(Target::leaf).toList(), tensors);
    }
  }

  /** A kind of matrix, one in each layer, that can have an adapter. */
  enum Target {
    Q_PROJ("self_attn.q_proj"),
    K_PROJ("self_attn.k_proj"),
    V_PROJ("self_attn.v_proj"),
    O_PROJ("self_attn.o_proj"),
    GATE_PROJ("mlp.gate_proj"),
    UP_PROJ("mlp.up_proj"),
    DOWN_PROJ("mlp.down_proj");

    private final String module;

    Target(String module) {
      this.module = module;
    }

    /** Returns the module's name within its layer, as in Hugging Face checkpoints. */
    String module() {
      return module;
    }

    /** Returns PEFT's name of the target. */
    public String leaf() {
      return module.substring(module.indexOf('.') + 1);
    }
  }
}
