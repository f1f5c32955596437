package io.troupe.config.plan;

import io.troupe.config.RunConfig;
import io.troupe.config.TaskFacts;
import io.troupe.config.policy.DecoderSection;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The memory that a run takes at its peak when everything is in one process, in bytes.
 *
 * @param policy parameters of the policy
 * @param trainer bytes of the trainer
 * @param published the weights that workers read and the next, in native memory
 * @param samplers bytes of the samplers
 * @param process the JVM and its libraries
 * @param allocator bytes that the C library keeps of memory that was given back to it
 */
public record MemoryEstimate(
    Policy policy,
    Trainer trainer,
    long published,
    Samplers samplers,
    long process,
    long allocator) {
  private static final long FLOAT = 4;

  /** Bytes of a number's copies: three arrays of two pieces of two steps. */
  private static final long COPIES = 2 * 2 * 3 * FLOAT;

  /** Copies of the weights: the one that workers read, and the one that a step makes meanwhile. */
  private static final long SNAPSHOTS = 2;

  /** Slots of a cache to those in use, where it has just grown. */
  private static final long GROWTH = 2;

  /** Logits, their logarithm and their gradient. */
  private static final long LOGIT_COPIES = 3;

  /**
   * Copies of the logits of a part of the rows, which has no graph; two parts are there at a time.
   */
  private static final long PART_COPIES = 2;

  /** Parts of the rows of a feed-forward part, in whole tiles, and the fewest rows of one. */
  private static final long PARTS = 3;

  private static final long TILE = 128;
  private static final long LEAST_ROWS = 2048;

  private static final long PROCESS = 1L << 30;
  private static final long ALLOCATOR_SHARE = 20;

  /** The part of the whole that is worth a change of a key. */
  private static final long LEAST_SAVING = 20;

  /**
   * The policy's parameters, and the trained ones among them.
   *
   * @param parameters numbers of the policy
   * @param trained of these, the numbers that training moves: all, or the adapters'
   */
  public record Policy(String family, long parameters, long trained) {}

  /**
   * The bytes of the trainer's parts.
   *
   * @param weights and adapters, and of what is trained gradient and AdamW's two means
   * @param step activations, logits and gradients of a micro-batch
   * @param reference the frozen policy of the KL penalty; 0 without one
   * @param teacher beside the reference; 0 without one
   */
  public record Trainer(long weights, long step, long reference, long teacher) {
    long total() {
      return weights + step + reference + teacher;
    }
  }

  /**
   * The bytes of the samplers' parts.
   *
   * @param workers the weights of all rollout workers
   * @param evaluator the weights of the evaluator's; 0 without evaluations
   * @param keysAndValues the KV caches of all workers: of everything they decode at a time, or what
   *     policy.kv_tokens allows, in slots that grow by doubling
   */
  public record Samplers(long workers, long evaluator, long keysAndValues) {
    long total() {
      return workers + evaluator + keysAndValues;
    }
  }

  /**
   * Returns the host memory that a trainer rank takes for copies of the state: float32 weights and
   * both moments of its piece and of its neighbour's, of two steps.
   */
  long copiesOfRank(int ranks) {
    return COPIES * policy.trained / ranks;
  }

  /**
   * Returns the memory of the coordinator's host through which versions pass from trainer ranks:
   * what is trained, in the type that passes compute with. Adapters compute in float32.
   *
   * @param bytesOfNumber of the policy's precision
   */
  long versionOfRanks(long bytesOfNumber) {
    return policy.trained * (policy.trained < policy.parameters ? FLOAT : bytesOfNumber);
  }

  /**
   * The estimate for a decoder.
   *
   * @param teacher parameters of a teacher beside the reference; 0 without one
   */
  static MemoryEstimate of(
      ModelSizes model,
      DecoderSection decoder,
      long teacher,
      RunConfig config,
      TaskFacts facts,
      Capacities capacities) {
    long weights = FLOAT * model.parameters();
    long bytes = config.policy().bytesOfNumber();
    long sampled = bytes * model.parameters();
    long adapters = model.adapters(decoder.compute().lora());
    boolean adapted = adapters > 0;
    long trained = adapted ? adapters : model.parameters();
    boolean copied =
        config.lossSettings().readsReference(teacher > 0)
            && (!adapted || config.warmup().steps() > 0);
    Trainer trainer =
        new Trainer(
            adapted ? sampled + 4 * FLOAT * trained : 4 * weights,
            step(model, decoder, facts, config, capacities),
            copied ? sampled : 0,
            bytes * teacher);
    Samplers samplers =
        new Samplers(
            config.rollout().workers() * sampled,
            capacities.evaluatedPrompts() > 0 ? sampled : 0,
            keysAndValues(model, config, facts, capacities));
    long published = SNAPSHOTS * weights;
    long tensors = trainer.total() + published + samplers.total();
    return new MemoryEstimate(
        new Policy(model.family(), model.parameters(), trained),
        trainer,
        published,
        samplers,
        PROCESS,
        tensors / ALLOCATOR_SHARE);
  }

  private static long step(
      ModelSizes model,
      DecoderSection decoder,
      TaskFacts facts,
      RunConfig config,
      Capacities capacities) {
    long longest = facts.longestSequence(config.rollout().maxTokens());
    long tokens =
        Math.clamp(
            decoder.compute().microBatchTokens(),
            longest,
            Math.max(longest, capacities.tokensPerStep()));
    long bytes = config.policy().bytesOfNumber();
    ModelSizes.Layer layer = model.layer();
    long activations =
        switch (decoder.compute().recompute()) {
          case NONE -> tokens * model.layers() * (layer.attention() + layer.forward());
          case LAYERS ->
              tokens * ((long) model.layers() * layer.hidden() + layer.attention())
                  + forwardRows(tokens) * layer.forward();
        };
    long whole = tokens * model.vocabulary() * FLOAT;
    long logits =
        whole <= ComputeSettings.DEFAULT_LOGIT_BYTES
            ? LOGIT_COPIES * whole
            : PART_COPIES * ComputeSettings.DEFAULT_LOGIT_BYTES;
    long adapters = model.adapters(decoder.compute().lora());
    // Whole weights are beside their master weights in a smaller type.
    long rounded = bytes == FLOAT || adapters > 0 ? 0 : bytes * model.parameters();
    // A graph of all layers has the gradients of one micro-batch beside it.
    long gradients =
        switch (decoder.compute().recompute()) {
          case NONE -> adapters > 0 ? FLOAT * adapters : bytes * model.parameters();
          case LAYERS -> 0;
        };
    return activations * bytes + logits + rounded + gradients;
  }

  /**
   * Rows of the feed-forward part that are computed again at a time, as the program divides them.
   */
  private static long forwardRows(long tokens) {
    long part = Math.ceilDiv(Math.ceilDiv(tokens, PARTS), TILE) * TILE;
    return Math.min(tokens, Math.max(LEAST_ROWS, part));
  }

  private static long keysAndValues(
      ModelSizes model, RunConfig config, TaskFacts facts, Capacities capacities) {
    long sequences = capacities.groupsDecoded() * config.rollout().completionsPerPrompt();
    int tokens = facts.longestSequence(config.rollout().maxTokens());
    return GROWTH * cached(sequences, tokens, config) * model.keysAndValues(config);
  }

  /** Tokens that the caches of all workers have slots in use for, at most. */
  private static long cached(long sequences, int longest, RunConfig config) {
    if (config.rollout().workers() == 0) {
      return 0; // servers have caches of their own
    }
    int context = config.policy().contextLength();
    long wanted = sequences * DjlPolicy.cacheTokens(1, longest, context);
    long allowed = (long) config.policy().kvTokens() * config.rollout().workers();
    return allowed == 0 ? wanted : Math.min(wanted, allowed);
  }

  /** Returns the sum of all parts. */
  public long total() {
    return trainer.total() + published + samplers.total() + process + allocator;
  }

  /** Returns the keys that make the memory less, those that save most first. */
  String advice() {
    Map<String, Long> savings = new LinkedHashMap<>();
    savings.put(
        "train adapters (policy.lora.rank)",
        policy.trained < policy.parameters ? 0 : 3 * policy.parameters * FLOAT);
    savings.put(
        "compute layers twice (policy.recompute: layers) or lower policy.micro_batch_tokens",
        trainer.step);
    savings.put("leave the KL penalty out (loss.kl_coefficient: 0)", trainer.reference);
    savings.put("have the teacher on a server (distillation.teacher_urls)", trainer.teacher);
    savings.put("evaluate afterwards (evaluation.every: 0)", samplers.evaluator);
    savings.put("lower policy.kv_tokens", samplers.keysAndValues);
    savings.put("sample in bfloat16 (policy.precision)", samplers.workers / 2);
    return savings.entrySet().stream()
        .filter(saving -> saving.getValue() >= total() / LEAST_SAVING)
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .map(Map.Entry::getKey)
        .collect(
            Collectors.joining(
                "; ", "", "; or take a smaller policy, or a machine with more memory"));
  }
}
