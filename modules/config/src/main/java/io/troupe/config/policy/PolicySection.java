package io.troupe.config.policy;

import io.troupe.chat.Thinking;
import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.config.schema.Variant;
import io.troupe.engine.djl.model.DecoderSettings;
import java.time.Duration;

/** The policy and the engine that computes it. */
@Variant(
    key = "engine",
    defaultsTo = "djl",
    meaning =
        "`djl` is a decoder with random weights on PyTorch; `pretrained` is one that starts from a"
            + " checkpoint; `toy` is a table, for tests.")
public sealed interface PolicySection permits DecoderSection, PolicySection.Toy {
  /** Most tokens of prompt and completion together. */
  int contextLength();

  /** Most tokens of a worker's cache of keys and values; 0 sets no limit of its own. */
  int kvTokens();

  /** Bytes of a number in that cache. */
  int bytesOfNumber();

  /**
   * Whether the policy thinks before its answers; a policy without a chat template has no choice.
   */
  default Thinking thinking() {
    return Thinking.AUTO;
  }

  /** The device that trainer and samplers compute on. */
  String computesOn();

  /** Whether a process that computes it uses an accelerator, where there is one. */
  default boolean wantsGpu() {
    return !computesOn().equals("cpu");
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
      @Inline TorchKeys compute)
      implements DecoderSection, Validated {
    /** The decoder's sizes and first weights. */
    public DecoderSettings decoder() {
      return new DecoderSettings(
          hidden,
          layers,
          heads,
          kvHeads,
          headDim,
          feedForward,
          contextLength,
          ropeTheta,
          normEpsilon,
          tiedEmbeddings,
          initStd);
    }

    @Override
    public void check(RuleChecker rules) {
      rules
          .on("heads", "kv_heads")
          .require(
              () -> heads % kvHeads == 0,
              "must be a multiple of kv_heads (%d)".formatted(kvHeads),
              "change one of the two");
      rules
          .on("head_dim")
          .require(() -> headDim % 2 == 0, "must be even", "take the next even number");
      compute.check(rules, contextLength);
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
      @Doc(
              value = "Most bytes of one file of saved weights; a larger model takes several.",
              unit = "bytes")
          @Default("5000000000")
          @Range(min = 1000000)
          long shardBytes,
      @Doc(
              "Whether the policy thinks before its answers, as its chat template is told"
                  + " (`enable_thinking`, `thinking`), wherever conversations are rendered: prompts"
                  + " with `template: chat`, rows of `messages`, agents, the console. `auto` is"
                  + " without thinking, where the template has the choice; `true` and `false` are"
                  + " refused where it has none, but for `true` of one that always opens a"
                  + " thought.")
          @Default("auto")
          Thinking thinking,
      @Inline TorchKeys compute)
      implements DecoderSection, Validated {
    @Override
    public void check(RuleChecker rules) {
      compute.check(rules, contextLength);
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

    @Override
    public String computesOn() {
      return "cpu";
    }
  }
}
