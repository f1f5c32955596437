package io.troupe.engine.djl.model;

import static io.troupe.core.Require.require;

/**
 * The architecture of the decoder: grouped-query attention with rotary positions, SwiGLU, RMSNorm
 * before each block, and what its family adds.
 *
 * @param family normed heads, biases, or neither
 * @param hidden width of the residual stream
 * @param layers blocks of attention and feed-forward
 * @param heads query heads of a layer
 * @param kvHeads key and value heads of a layer; {@code heads} is a multiple of it
 * @param headDim width of a head; even, for rotary positions
 * @param feedForward width inside the feed-forward block
 * @param contextLength most tokens of prompt and completion together
 * @param ropeTheta base of the rotary positions' wavelengths
 * @param ropeScaling change of these wavelengths
 * @param normEpsilon added to the mean square in every norm
 * @param tiedEmbeddings whether the output matrix is the embedding
 * @param initStd standard deviation of the initial weights
 */
public record DecoderSettings(
    DecoderFamily family,
    int hidden,
    int layers,
    int heads,
    int kvHeads,
    int headDim,
    int feedForward,
    int contextLength,
    double ropeTheta,
    RopeScaling ropeScaling,
    double normEpsilon,
    boolean tiedEmbeddings,
    double initStd) {
  public DecoderSettings {
    require(hidden >= 1, "hidden is 1 or greater, not %d", hidden);
    require(layers >= 1, "layers is 1 or greater, not %d", layers);
    require(heads >= 1, "heads is 1 or greater, not %d", heads);
    require(
        kvHeads >= 1 && heads % kvHeads == 0,
        "heads (%d) is a multiple of kv_heads (%d)",
        heads,
        kvHeads);
    require(headDim >= 2 && headDim % 2 == 0, "head_dim is even and positive, not %d", headDim);
    require(feedForward >= 1, "feed_forward is 1 or greater, not %d", feedForward);
    require(contextLength >= 2, "context_length is 2 or greater, not %d", contextLength);
    require(
        ropeTheta >= 1 && Double.isFinite(ropeTheta),
        "rope_theta is a finite number, 1 or greater, not %s",
        ropeTheta);
    require(
        normEpsilon > 0 && normEpsilon <= 1, "norm_epsilon lies in (0, 1], not %s", normEpsilon);
    require(initStd > 0 && initStd <= 10, "init_std lies in (0, 10], not %s", initStd);
  }

  /** Returns these settings with another context length. */
  public DecoderSettings withContextLength(int length) {
    return new DecoderSettings(
        family,
        hidden,
        layers,
        heads,
        kvHeads,
        headDim,
        feedForward,
        length,
        ropeTheta,
        ropeScaling,
        normEpsilon,
        tiedEmbeddings,
        initStd);
  }

  /**
   * A decoder of the Qwen3 family whose rotary positions are not stretched. The parameters are as
   * many as the numbers that a model's {@code config.json} has.
   */
  public DecoderSettings(
      int hidden,
      int layers,
      int heads,
      int kvHeads,
      int headDim,
      int feedForward,
      int contextLength,
      double ropeTheta,
      double normEpsilon,
      boolean tiedEmbeddings,
      double initStd) {
    this(
        DecoderFamily.QWEN3,
        hidden,
        layers,
        heads,
        kvHeads,
        headDim,
        feedForward,
        contextLength,
        ropeTheta,
        new RopeScaling.None(),
        normEpsilon,
        tiedEmbeddings,
        initStd);
  }
}
