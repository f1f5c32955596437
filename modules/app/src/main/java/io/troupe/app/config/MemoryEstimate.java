package io.troupe.app.config;

/**
 * Memory of the tensors that are always there, in float32 and bytes: activations, which
 * policy.micro_batch_tokens bounds, and the libraries themselves come on top.
 *
 * @param family of the policy
 * @param parameters of the policy, a number
 * @param trained of these, the numbers that training moves: all, or the adapters'
 * @param trainer weights and adapters, and of what is trained gradient and AdamW's two means
 * @param reference the frozen policy of the KL penalty; 0 without one
 * @param teacher a teacher beside the reference; 0 without one
 * @param snapshot the published weights
 * @param samplers the weights of all rollout workers
 * @param keysAndValues the KV caches of all workers, filled
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
    long tokens = (long) facts.longestPromptTokens() + config.rollout().maxTokens();
    long perToken = 2L * model.layers() * model.kvHeads() * model.headDim() * FLOAT;
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
        weights,
        config.rollout().workers() * weights,
        sequences * tokens * perToken);
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
