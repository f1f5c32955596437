package io.troupe.engine.djl.torch;

import static io.troupe.core.Require.require;

import io.troupe.engine.safetensors.ModelFiles;

/**
 * How the engines use the machine. But for {@code kvOnSwap} and {@code precision}, none of it
 * changes what is computed beyond rounding.
 *
 * @param trainerThreads PyTorch threads of the trainer
 * @param samplerThreads PyTorch threads of each sampler
 * @param microBatchTokens most tokens, padding included, of one forward pass of the trainer, and of
 *     one reading of prompts by a sampler; one sequence longer than that passes alone
 * @param decodeRows most completions a sampler decodes at a time; more wait their turn
 * @param kvTokens most tokens that a sampler's cache of keys and values has room for in use
 * @param kvOnSwap what becomes of that cache when weights change
 * @param shardBytes most bytes of one file of a saved model; a larger model takes several
 * @param device where trainer and samplers compute
 * @param precision what they multiply matrices in
 * @param logitBytes most bytes of logits that the trainer holds at a time; of more, it computes
 *     some positions at a time, and on the way back a second time
 */
public record ComputeSettings(
    int trainerThreads,
    int samplerThreads,
    int microBatchTokens,
    int decodeRows,
    long kvTokens,
    KvOnSwap kvOnSwap,
    long shardBytes,
    Device device,
    Precision precision,
    long logitBytes) {
  /** What becomes of keys and values that older weights computed. */
  public enum KvOnSwap {
    /** They stay: later tokens attend to what the older weights made of earlier ones. */
    KEEP,
    /** They are computed again, as if the newer weights had read all tokens. */
    RECOMPUTE
  }

  private static final int DEFAULT_DECODE_ROWS = 4096;

  /** 2,048 positions of a vocabulary of 32,768; the graph holds about three times as much. */
  public static final long DEFAULT_LOGIT_BYTES = 256L << 20;

  public ComputeSettings {
    require(trainerThreads >= 1, "trainer_threads is 1 or greater, not %d", trainerThreads);
    require(samplerThreads >= 1, "sampler_threads is 1 or greater, not %d", samplerThreads);
    require(microBatchTokens >= 2, "micro_batch_tokens is 2 or greater, not %d", microBatchTokens);
    require(decodeRows >= 1, "decode_rows is 1 or greater, not %d", decodeRows);
    require(kvTokens >= 1, "kv_tokens is 1 or greater, not %d", kvTokens);
    require(logitBytes >= 1, "logit_bytes is 1 or greater, not %d", logitBytes);
    require(shardBytes >= 1, "shard_bytes is 1 or greater, not %d", shardBytes);
  }

  /** Settings with the usual limit of completions decoded at a time. */
  public static ComputeSettings of(int trainerThreads, int samplerThreads, int microBatchTokens) {
    return new ComputeSettings(
        trainerThreads,
        samplerThreads,
        microBatchTokens,
        DEFAULT_DECODE_ROWS,
        Long.MAX_VALUE,
        KvOnSwap.KEEP,
        ModelFiles.DEFAULT_SHARD_BYTES,
        Device.host(),
        Precision.FLOAT32,
        DEFAULT_LOGIT_BYTES);
  }

  /** The same with another number of threads of a sampler. */
  public ComputeSettings withSamplerThreads(int threads) {
    return new ComputeSettings(
        trainerThreads,
        threads,
        microBatchTokens,
        decodeRows,
        kvTokens,
        kvOnSwap,
        shardBytes,
        device,
        precision,
        logitBytes);
  }

  /** The same with another number of threads of the trainer. */
  public ComputeSettings withTrainerThreads(int threads) {
    return new ComputeSettings(
        threads,
        samplerThreads,
        microBatchTokens,
        decodeRows,
        kvTokens,
        kvOnSwap,
        shardBytes,
        device,
        precision,
        logitBytes);
  }

  /** The same with another budget of logits. */
  public ComputeSettings withLogits(long bytes) {
    return new ComputeSettings(
        trainerThreads,
        samplerThreads,
        microBatchTokens,
        decodeRows,
        kvTokens,
        kvOnSwap,
        shardBytes,
        device,
        precision,
        bytes);
  }

  /** How many positions' logits fit the budget. */
  public int logitRows(int vocabulary) {
    return Math.toIntExact(
        Math.clamp(logitBytes / ((long) Float.BYTES * vocabulary), 1, Integer.MAX_VALUE));
  }

  /** The same with another size of files of weights. */
  public ComputeSettings withShardBytes(long bytes) {
    return new ComputeSettings(
        trainerThreads,
        samplerThreads,
        microBatchTokens,
        decodeRows,
        kvTokens,
        kvOnSwap,
        bytes,
        device,
        precision,
        logitBytes);
  }

  /** The same with a budget of cached tokens. */
  public ComputeSettings withCache(long tokens, KvOnSwap onSwap) {
    return new ComputeSettings(
        trainerThreads,
        samplerThreads,
        microBatchTokens,
        decodeRows,
        tokens,
        onSwap,
        shardBytes,
        device,
        precision,
        logitBytes);
  }

  /** The same on a device, in a precision. */
  public ComputeSettings on(Device where, Precision numbers) {
    return new ComputeSettings(
        trainerThreads,
        samplerThreads,
        microBatchTokens,
        decodeRows,
        kvTokens,
        kvOnSwap,
        shardBytes,
        where,
        numbers,
        logitBytes);
  }
}
