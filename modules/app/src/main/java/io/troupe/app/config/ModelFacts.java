package io.troupe.app.config;

/**
 * What a plan needs to know of a decoder.
 *
 * @param family such as Qwen3
 * @param parameters how many numbers its weights hold
 * @param layers blocks of attention and feed-forward
 * @param kvHeads key and value heads of a layer
 * @param headDim width of a head
 * @param contextLength most tokens its positions reach
 */
public record ModelFacts(
    String family, long parameters, int layers, int kvHeads, int headDim, int contextLength) {
  /**
   * A decoder of the Qwen3 family made on the spot: embedding, output matrix unless tied, and in
   * each layer four projections of attention, two norms of heads, two of the stream, and three
   * matrices of feed-forward; one norm at the end.
   */
  static ModelFacts of(PolicySection.Djl policy, long vocabulary) {
    long d = policy.hidden();
    long queries = (long) policy.heads() * policy.headDim();
    long keys = (long) policy.kvHeads() * policy.headDim();
    long attention = 2 * d * queries + 2 * d * keys + 2L * policy.headDim();
    long layer = attention + 3 * d * policy.feedForward() + 2 * d;
    long embeddings = vocabulary * d * (policy.tiedEmbeddings() ? 1 : 2);
    return new ModelFacts(
        "Qwen3",
        embeddings + policy.layers() * layer + d,
        policy.layers(),
        policy.kvHeads(),
        policy.headDim(),
        policy.contextLength());
  }
}
