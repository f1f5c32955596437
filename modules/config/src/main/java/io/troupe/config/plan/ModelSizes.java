package io.troupe.config.plan;

import io.troupe.config.RunConfig;
import io.troupe.config.policy.LoraSection;
import io.troupe.config.policy.PolicySection;

/**
 * The sizes of a decoder that a plan needs.
 *
 * @param family such as Qwen3
 * @param parameters number of parameters
 * @param vocabulary number of tokens in the vocabulary
 * @param layers blocks of attention and feed-forward
 * @param layer the sizes of each
 * @param contextLength most tokens its positions reach
 */
public record ModelSizes(
    String family, long parameters, int vocabulary, int layers, Layer layer, int contextLength) {
  /**
   * The sizes of a layer.
   *
   * @param hidden width of the residual stream
   * @param queries width of all query heads together
   * @param keys width of all key heads together, and of all value heads
   * @param feedForward inner width of the feed-forward part
   */
  public record Layer(int hidden, int queries, int keys, int feedForward) {
    /**
     * Numbers that a token leaves for the way back through attention: of the norm what goes in, its
     * normed form and what the matrices read; queries and keys before and after their norms; what
     * attention reads, with keys and values once for each query head, and what it makes.
     */
    long attention() {
      return 3L * hidden + 7L * queries + 3L * keys;
    }

    /**
     * Returns the numbers a token of the feed-forward part: its norm; gate, up, their activation
     * and product.
     */
    long forward() {
      return 3L * hidden + 4L * feedForward;
    }
  }

  /**
   * A decoder of the Qwen3 family made on the spot: embedding, output matrix unless tied, and in
   * each layer four projections of attention, two norms of heads, two of the stream, and three
   * matrices of feed-forward; one norm at the end.
   */
  static ModelSizes of(PolicySection.Djl policy, int vocabulary) {
    long d = policy.hidden();
    int queries = policy.heads() * policy.headDim();
    int keys = policy.kvHeads() * policy.headDim();
    long attention = 2 * d * queries + 2 * d * keys + 2L * policy.headDim();
    long layer = attention + 3 * d * policy.feedForward() + 2 * d;
    long embeddings = vocabulary * d * (policy.tiedEmbeddings() ? 1 : 2);
    return new ModelSizes(
        "Qwen3",
        embeddings + policy.layers() * layer + d,
        vocabulary,
        policy.layers(),
        new Layer(policy.hidden(), queries, keys, policy.feedForward()),
        policy.contextLength());
  }

  /** Bytes of a token's keys and values in the policy's precision. */
  long keysAndValues(RunConfig config) {
    return 2L * layers * layer.keys * config.policy().bytesOfNumber();
  }

  /** Parameters of adapters: rank times the sum of both sides of each adapted matrix. */
  long adapters(LoraSection lora) {
    if (!lora.enabled()) {
      return 0;
    }
    long d = layer.hidden;
    long sides =
        lora.resolvedTargets().stream()
            .mapToLong(
                target ->
                    switch (target) {
                      case Q_PROJ, O_PROJ -> d + layer.queries;
                      case K_PROJ, V_PROJ -> d + layer.keys;
                      case GATE_PROJ, UP_PROJ, DOWN_PROJ -> d + layer.feedForward;
                    })
            .sum();
    return sides * layers * lora.rank();
  }
}
