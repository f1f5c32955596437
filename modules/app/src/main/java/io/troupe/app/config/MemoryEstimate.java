package io.troupe.app.config;

import io.troupe.engine.djl.DjlPolicy;

/**
 * Memory of the tensors that are always there, in bytes: activations, which
 * policy.micro_batch_tokens bounds, and the libraries themselves come on top.
 *
 * @param family of the policy
 * @param parameters of the policy, a number
 * @param trained of these, the numbers that training moves: all, or the adapters'
 * @param trainer weights and adapters, and of what is trained gradient and AdamW's two means
 * @param reference the frozen policy of the KL penalty; 0 without one
 * @param teacher a teacher beside the reference; 0 without one
 * @param snapshot the published weights and the next, in Java's native memory
 * @param samplers the weights of all rollout workers
 * @param keysAndValues the KV caches of all workers: of everything they decode at a time, or what
 *     policy.kv_tokens allows, in slots that grow by doubling
 */
public record MemoryEstimate(
    String family,
    long parameters,
    long trained,
    long trainer,
    long reference,
    long teacher,
    long snapshot,
    long samplers,
    long keysAndValues) {
  private static final long FLOAT = 4;

  /** The one that workers read, and the one that a step makes meanwhile. */
  private static final long SNAPSHOTS = 2;

  /** Slots of a cache to those in use, where it has just grown. */
  private static final long GROWTH = 2;

  /**
   * The estimate for a decoder.
   *
   * @param adapters numbers that training moves instead of the weights; 0 if it moves these
   * @param teacher parameters of a teacher beside the reference; 0 without one
   */
  static MemoryEstimate of(
      ModelFacts model,
      long adapters,
      long teacher,
      RunConfig config,
      TaskFacts facts,
      Capacities capacities) {
    long weights = FLOAT * model.parameters();
    long sequences = capacities.groupsDecoded() * config.rollout().completionsPerPrompt();
    int tokens = facts.longestPromptTokens() + config.rollout().maxTokens();
    long perToken =
        2L * model.layers() * model.kvHeads() * model.headDim() * config.policy().bytesOfNumber();
    boolean adapted = adapters > 0;
    long trained = adapted ? adapters : model.parameters();
    boolean copied =
        config.lossSettings().readsReference(teacher > 0)
            && (!adapted || config.warmup().steps() > 0);
    return new MemoryEstimate(
        model.family(),
        model.parameters(),
        trained,
        adapted ? weights + 4 * FLOAT * trained : 4 * weights,
        copied ? weights : 0,
        FLOAT * teacher,
        SNAPSHOTS * weights,
        config.rollout().workers() * weights,
        GROWTH * cached(sequences, tokens, config) * perToken);
  }

  /** Tokens that the caches of all workers have slots in use for, at most. */
  private static long cached(long sequences, int longest, RunConfig config) {
    int context = config.policy().contextLength();
    long wanted = sequences * DjlPolicy.cacheTokens(1, longest, context);
    long allowed = (long) config.policy().kvTokens() * config.rollout().workers();
    return allowed == 0 ? wanted : Math.min(wanted, allowed);
  }

  /**
   * Parameters of the adapters: rank times the sum of both sides of each adapted matrix; 0 without.
   */
  static long adapters(PolicySection.Djl policy) {
    if (!policy.lora().on()) {
      return 0;
    }
    long d = policy.hidden();
    long queries = (long) policy.heads() * policy.headDim();
    long keys = (long) policy.kvHeads() * policy.headDim();
    long sides =
        policy.lora().resolvedTargets().stream()
            .mapToLong(
                target ->
                    switch (target) {
                      case Q_PROJ, O_PROJ -> d + queries;
                      case K_PROJ, V_PROJ -> d + keys;
                      case GATE_PROJ, UP_PROJ, DOWN_PROJ -> d + policy.feedForward();
                    })
            .sum();
    return sides * policy.layers() * policy.lora().rank();
  }

  /** All of it. */
  public long total() {
    return trainer + reference + teacher + snapshot + samplers + keysAndValues;
  }
}
