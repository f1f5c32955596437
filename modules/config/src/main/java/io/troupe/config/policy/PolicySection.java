package io.troupe.config.policy;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.config.schema.Variant;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.djl.train.TrainingMode.Activations;
import java.time.Duration;

/** The policy and the engine that computes it. */
@Variant(
    key = "engine",
    defaultsTo = "djl",
    meaning =
        "`djl` is a decoder with random weights on PyTorch; `pretrained` is one that starts from a"
            + " checkpoint; `toy` is a table, for tests.")
public sealed interface PolicySection {
  /** What a trainer computes twice. */
  enum Recompute {
    /** Nothing: activations stay in memory. */
    NONE,
    /** Each layer, from its input. */
    LAYERS;

    private Activations activations() {
      return switch (this) {
        case NONE -> Activations.KEPT;
        case LAYERS -> Activations.RECOMPUTED;
      };
    }
  }

  /** Most tokens of prompt and completion together. */
  int contextLength();

  /** Most tokens of a worker's cache of keys and values; 0 sets no limit of its own. */
  int kvTokens();

  /** Bytes of a number in that cache. */
  int bytesOfNumber();

  private static int bytes(Precision precision) {
    return switch (precision) {
      case FLOAT32 -> Float.BYTES;
      case BFLOAT16 -> Short.BYTES;
    };
  }

  /** Where processes that compute it do so. */
  default String computesOn() {
    return switch (this) {
      case Djl djl -> djl.device();
      case Pretrained pretrained -> pretrained.device();
      case Toy _ -> "cpu";
    };
  }

  /** Where its PyTorch is installed; empty means that of the environment, or DJL's own. */
  default String torchPlace() {
    return switch (this) {
      case Djl djl -> djl.torch();
      case Pretrained pretrained -> pretrained.torch();
      case Toy _ -> "";
    };
  }

  /** Whether a process that computes it uses an accelerator, where there is one. */
  default boolean wantsGpu() {
    return switch (this) {
      case Djl djl -> !djl.device().equals("cpu");
      case Pretrained pretrained -> !pretrained.device().equals("cpu");
      case Toy _ -> false;
    };
  }

  /** A decoder with rotary positions, grouped queries and normed heads, as Qwen3's. */
  @Doc("A Qwen3-style decoder with fresh random weights, computed by PyTorch through DJL.")
  record Djl(
      @Doc(value = "Width of the residual stream.", unit = "features")
          @Default("128")
          @Range(min = 1, max = 65536)
          int hidden,
      @Doc(value = "Blocks of attention and feed-forward.", unit = "layers")
          @Default("2")
          @Range(min = 1, max = 1024)
          int layers,
      @Doc(value = "Query heads of a layer.", unit = "heads")
          @Default("4")
          @Range(min = 1, max = 1024)
          int heads,
      @Doc(value = "Key and value heads of a layer; `heads` is a multiple of it.", unit = "heads")
          @Default("2")
          @Range(min = 1, max = 1024)
          int kvHeads,
      @Doc(value = "Width of a head; even, for rotary positions.", unit = "features")
          @Default("32")
          @Range(min = 2, max = 1024)
          int headDim,
      @Doc(value = "Width inside the feed-forward block.", unit = "features")
          @Default("256")
          @Range(min = 1, max = 1_000_000)
          int feedForward,
      @Doc(value = "Most tokens of prompt and completion together.", unit = "tokens")
          @Default("16")
          @Range(min = 2, max = 1_000_000)
          int contextLength,
      @Doc("Base of the rotary positions' wavelengths.") @Default("10000") @Range(min = 1)
          double ropeTheta,
      @Doc("Added to the mean square in every norm.")
          @Default("1e-6")
          @Range(min = 0, minExclusive = true, max = 1)
          double normEpsilon,
      @Doc("Whether the output matrix is the embedding.") @Default("true") boolean tiedEmbeddings,
      @Doc("Standard deviation of the initial weights.")
          @Default("0.02")
          @Range(min = 0, minExclusive = true, max = 10)
          double initStd,
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
      @Doc("Low-rank adapters, trained in place of the weights.") LoraSection lora)
      implements PolicySection, DecoderSection, Validated {
    @Override
    public int bytesOfNumber() {
      return bytes(precision);
    }

    /** How the trainer trains. */
    public TrainingMode trainingMode() {
      return new TrainingMode(lora.tuning(), recompute.activations());
    }

    @Override
    public void check(RuleChecker rules) {
      rules
          .on("heads", "kv_heads")
          .require(
              () -> heads % kvHeads == 0,
              "must be a multiple of kv_heads (%d)".formatted(kvHeads),
              "change one of the two");
      checkTargets(rules, lora);
      rules
          .on("head_dim")
          .require(() -> headDim % 2 == 0, "must be even", "take the next even number");
      checkMicroBatch(rules, microBatchTokens, contextLength);
    }
  }

  /** A decoder of the Qwen3, Qwen2 or Llama 3 family that starts from a checkpoint. */
  @Doc(
      "A decoder that starts from a Hugging Face checkpoint, whose sizes, tokenizer and chat"
          + " template it takes: docs/models.md.")
  record Pretrained(
      @Doc(
              "Folder with config.json, tokenizer.json and safetensors files, where a relative path"
                  + " starts from the folder of the configuration file; or a model's name on the"
                  + " Hugging Face hub, such as `Qwen/Qwen3-0.6B` or `Qwen/Qwen3-0.6B@REVISION`; or"
                  + " a folder `s3://bucket/prefix`. The last two are fetched once a machine.")
          @RelativeToFile(orRepository = true)
          String checkpoint,
      @Doc(
              value =
                  "Most tokens of prompt and completion together; at most the checkpoint's"
                      + " max_position_embeddings. Memory of keys and values grows with it.",
              unit = "tokens")
          @Range(min = 2, max = 10_000_000)
          int contextLength,
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
              value = "Most bytes of one file of saved weights; a larger model takes several.",
              unit = "bytes")
          @Default("5000000000")
          @Range(min = 1000000)
          long shardBytes,
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
      @Doc("Low-rank adapters, trained in place of the weights.") LoraSection lora)
      implements PolicySection, DecoderSection, Validated {
    @Override
    public int bytesOfNumber() {
      return bytes(precision);
    }

    /** How the trainer trains. */
    public TrainingMode trainingMode() {
      return new TrainingMode(lora.tuning(), recompute.activations());
    }

    @Override
    public void check(RuleChecker rules) {
      checkTargets(rules, lora);
      checkMicroBatch(rules, microBatchTokens, contextLength);
    }
  }

  /** A table of logits that learns. */
  @Doc("A table of logits that truly learns, in plain Java and in milliseconds; for tests.")
  record Toy(
      @Doc(value = "Most tokens of prompt and completion together.", unit = "tokens")
          @Default("16")
          @Range(min = 2, max = 1_000_000)
          int contextLength,
      @Doc("How long the engine takes for one token, to imitate a slow one.")
          @Default("0ms")
          @Range(min = 0, max = 60)
          Duration tokenDelay)
      implements PolicySection {
    @Override
    public int kvTokens() {
      return 0;
    }

    @Override
    public int bytesOfNumber() {
      return Float.BYTES;
    }
  }

  private static void checkTargets(RuleChecker rules, LoraSection lora) {
    rules
        .on("lora.targets")
        .require(
            () -> lora.targets().stream().distinct().count() == lora.targets().size(),
            "names a matrix twice",
            "name each once");
  }

  private static void checkMicroBatch(RuleChecker rules, int microBatchTokens, int contextLength) {
    rules
        .on("micro_batch_tokens", "context_length")
        .require(
            () -> microBatchTokens >= contextLength,
            "must hold one sequence of context_length (%d)".formatted(contextLength),
            "raise it to at least that");
  }
}
