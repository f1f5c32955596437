package io.troupe.config.policy;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.djl.train.TrainingMode.Activations;

/** The settings of PyTorch for a policy, and its trained part. */
@Doc("PyTorch of a policy")
public record TorchKeys(
    @Doc(value = "PyTorch threads of the trainer.", unit = "threads")
        @Default("1")
        @Range(min = 1, max = 1024)
        int trainerThreads,
    @Doc(value = "PyTorch threads of each rollout worker.", unit = "threads")
        @Default("1")
        @Range(min = 1, max = 1024)
        int samplerThreads,
    @Doc(
            value =
                "Most tokens, padding included, in one forward and backward pass of the trainer;"
                    + " it bounds memory and does not change the result.",
            unit = "tokens")
        @Default("16384")
        @Range(min = 2)
        int microBatchTokens,
    @Doc(
            value =
                "Most tokens that the cache of keys and values of a rollout worker has room for;"
                    + " groups beyond it wait. 0 sets no limit but the work given to it, which"
                    + " `troupe plan` counts.",
            unit = "tokens")
        @Default("0")
        @Range(min = 0)
        int kvTokens,
    @Doc(
            "What the trainer computes a second time on the way back, to hold less in memory:"
                + " `none`, or `layers`, all but the inputs of the layers. It does not change the"
                + " result.")
        @Default("none")
        Recompute recompute,
    @Doc(
            "Where trainer and rollout workers compute: `cpu`, `cuda`, `cuda:N`, or `auto`, the"
                + " first CUDA device that PyTorch sees, and the CPU where it sees none.")
        @Default("auto")
        String device,
    @Doc(
            "What matrices are multiplied in: `float32`, or `bfloat16`, which GPUs compute faster"
                + " and in half the memory. Weights are trained in float32 either way, and published in the type that"
                + " they are multiplied in.")
        @Default("float32")
        Precision precision,
    @Doc(
            "The PyTorch that computes it: a virtual environment, or the folder of an installed"
                + " PyTorch, whose binding `troupe torch build` made; a relative path starts from the"
                + " folder of the configuration file. Empty means that of the environment variable"
                + " TROUPE_TORCH, else DJL's own, which is for CPUs: docs/models.md.")
        @Default("")
        @RelativeToFile
        String torch,
    @Doc("Low-rank adapters, trained in place of the weights.") LoraSection lora) {
  /** The activations that a trainer computes twice. */
  public enum Recompute {
    /** Activations stay in memory. */
    NONE,
    /** Each layer is computed again from its input. */
    LAYERS
  }

  /** Returns the mode of training. */
  public TrainingMode trainingMode() {
    return new TrainingMode(
        lora.tuning(),
        switch (recompute) {
          case NONE -> Activations.KEPT;
          case LAYERS -> Activations.RECOMPUTED;
        });
  }

  /** States the rules between these keys and the policy's context length. */
  void check(RuleChecker rules, int contextLength) {
    rules
        .on("lora.targets")
        .require(
            () -> lora.targets().stream().distinct().count() == lora.targets().size(),
            "names a matrix twice",
            "name each once");
    rules
        .on("micro_batch_tokens", "context_length")
        .require(
            () -> microBatchTokens >= contextLength,
            "must hold one sequence of context_length (%d)".formatted(contextLength),
            "raise it to at least that");
  }
}
