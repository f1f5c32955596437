package io.troupe.engine.djl.model;

import static io.troupe.core.Require.require;

import io.troupe.engine.weights.Adapter;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;

/** Which numbers training moves. */
public sealed interface Tuning {
  /** All weights. */
  record Full() implements Tuning {}

  /**
   * Low-rank adapters of some matrices, everything else frozen (Hu et al. 2021, LoRA): a matrix W
   * acts as W + alpha / rank · B A, with A of {@code rank} rows and B of {@code rank} columns. B
   * begins as zeros, so that training begins at the frozen policy.
   *
   * @param rank columns of B, 1 or greater
   * @param alpha the scale is alpha / rank; finite, greater than 0
   * @param targets the adapted matrices, at least one, none of them twice
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

    /** Adapters of these settings, with their tensors. */
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

    /** The module's name within its layer, as Hugging Face has it. */
    String module() {
      return module;
    }

    /** The name by which PEFT targets it. */
    public String leaf() {
      return module.substring(module.indexOf('.') + 1);
    }
  }
}
