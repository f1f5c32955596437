package io.troupe.engine.djl.torch;

import static io.troupe.core.Require.require;

import io.troupe.engine.safetensors.ModelFiles;

/**
 * The engines' use of the machine. Except {@code decoding.kvOnSwap} and {@code precision}, no
 * setting changes a result beyond rounding.
 *
 * @param trainerThreads PyTorch threads of the trainer
 * @param samplerThreads PyTorch threads of each sampler
 * @param microBatchTokens most tokens, padding included, of one micro-batch of the trainer, and of
 *     one prefill of a sampler; a longer sequence is a micro-batch or prefill of its own
 * @param decoding settings of a sampler's decoding
 * @param shardBytes most bytes of one file of a saved model; a larger model takes several
 * @param device device of trainer and samplers
 * @param precision numbers that matrices are multiplied in
 * @param logitBytes most bytes of logits that the trainer holds at a time; above the limit it
 *     computes the logits of some positions at a time, and computes them again in the backward pass
 */
public record ComputeSettings(
    int trainerThreads,
    int samplerThreads,
    int microBatchTokens,
    Decoding decoding,
    long shardBytes,
    Device device,
    Precision precision,
    long logitBytes) {
  /**
   * The settings of a sampler's decoding.
   *
   * @param rows most completions that it decodes at a time; further completions wait
   * @param kvTokens most tokens of the slots in use of its KV cache
   * @param kvOnSwap treatment of the KV cache when weights change
   * @param batchInvariant whether a completion has the same bits, whatever decodes beside it
   */
  public record Decoding(int rows, long kvTokens, KvOnSwap kvOnSwap, boolean batchInvariant) {
    /**
     * Settings that decode as many completions as the cache holds, in the shapes that are fastest.
     */
    public static final Decoding DEFAULT =
        new Decoding(DEFAULT_DECODE_ROWS, Long.MAX_VALUE, KvOnSwap.KEEP, false);

    public Decoding {
      require(rows >= 1, "decode_rows is 1 or greater, not %d", rows);
      require(kvTokens >= 1, "kv_tokens is 1 or greater, not %d", kvTokens);
    }
  }

  /** The sampler's treatment of keys and values that older weights computed. */
  public enum KvOnSwap {
    /** The cache keeps the entries: later tokens attend to keys and values of the older weights. */
    KEEP,
    /** The entries are computed again under the newer weights. */
    RECOMPUTE
  }

  private static final int DEFAULT_DECODE_ROWS = 4096;
  private static final int TILE = 128;

  /** 2,048 positions of a vocabulary of 32,768; the graph holds about three times as much. */
  public static final long DEFAULT_LOGIT_BYTES = 256L << 20;

  public ComputeSettings {
    require(trainerThreads >= 1, "trainer_threads is 1 or greater, not %d", trainerThreads);
    require(samplerThreads >= 1, "sampler_threads is 1 or greater, not %d", samplerThreads);
    require(microBatchTokens >= 2, "micro_batch_tokens is 2 or greater, not %d", microBatchTokens);
    require(logitBytes >= 1, "logit_bytes is 1 or greater, not %d", logitBytes);
    require(shardBytes >= 1, "shard_bytes is 1 or greater, not %d", shardBytes);
  }

  /** Creates settings with the default limit of completions decoded at a time. */
  public static ComputeSettings of(int trainerThreads, int samplerThreads, int microBatchTokens) {
    return new ComputeSettings(
        trainerThreads,
        samplerThreads,
        microBatchTokens,
        Decoding.DEFAULT,
        ModelFiles.DEFAULT_SHARD_BYTES,
        Device.host(),
        Precision.FLOAT32,
        DEFAULT_LOGIT_BYTES);
  }

  /** Returns these settings with another number of threads of a sampler. */
  public ComputeSettings withSamplerThreads(int threads) {
    return with(trainerThreads, threads, logitBytes);
  }

  /** Returns these settings with another number of threads of the trainer. */
  public ComputeSettings withTrainerThreads(int threads) {
    return with(threads, samplerThreads, logitBytes);
  }

  /** Returns these settings with another limit of logits. */
  public ComputeSettings withLogits(long bytes) {
    return with(trainerThreads, samplerThreads, bytes);
  }

  private ComputeSettings with(int forTrainer, int forSampler, long bytes) {
    return new ComputeSettings(
        forTrainer, forSampler, microBatchTokens, decoding, shardBytes, device, precision, bytes);
  }

  /**
   * Returns the number of positions whose logits fit the limit: whole tiles of a matrix product
   * where one fits, because a GPU computes the rest of a tile too.
   */
  public int logitRows(int vocabulary) {
    int most =
        Math.toIntExact(
            Math.clamp(logitBytes / ((long) Float.BYTES * vocabulary), 1, Integer.MAX_VALUE));
    return most < TILE ? most : most - most % TILE;
  }

  /** Returns these settings with another limit of the size of a file of weights. */
  public ComputeSettings withShardBytes(long bytes) {
    return new ComputeSettings(
        trainerThreads,
        samplerThreads,
        microBatchTokens,
        decoding,
        bytes,
        device,
        precision,
        logitBytes);
  }

  /** Returns these settings with another way to decode. */
  public ComputeSettings withDecoding(Decoding other) {
    return new ComputeSettings(
        trainerThreads,
        samplerThreads,
        microBatchTokens,
        other,
        shardBytes,
        device,
        precision,
        logitBytes);
  }

  /** Returns these settings with another KV cache. */
  public ComputeSettings withCache(long tokens, KvOnSwap onSwap) {
    return withDecoding(new Decoding(decoding.rows, tokens, onSwap, decoding.batchInvariant));
  }

  /** Returns these settings with completions that have the same bits in every batch, or not. */
  public ComputeSettings withBatchInvariance(boolean invariant) {
    return withDecoding(
        new Decoding(decoding.rows, decoding.kvTokens, decoding.kvOnSwap, invariant));
  }

  /** Returns these settings for a device and a precision. */
  public ComputeSettings on(Device where, Precision numbers) {
    return new ComputeSettings(
        trainerThreads,
        samplerThreads,
        microBatchTokens,
        decoding,
        shardBytes,
        where,
        numbers,
        logitBytes);
  }
}
