package io.troupe.engine;

/**
 * One policy's engines. Both kinds agree on architecture and tokenizer; a sampler gets its weights
 * from the trainer's snapshots.
 */
public interface PolicyEngines extends AutoCloseable {
  Tokenizer tokenizer();

  /** Most tokens of prompt and completion together. */
  int contextLength();

  /** One line for the start banner: family, sizes, parameters. */
  String describe();

  /** Where the mathematics runs, for the start banner: device, library and version, threads. */
  String device();

  /**
   * A trainer with freshly initialised weights.
   *
   * @param seed of the initial weights
   */
  TrainingEngine newTrainer(long seed);

  /** A sampler without weights. */
  SamplingEngine newSampler();

  /** A sampler without weights, for few draws beside others' work: it computes on one thread. */
  default SamplingEngine newSideSampler() {
    return newSampler();
  }

  /**
   * A scorer without weights.
   *
   * @throws UnsupportedOperationException if this policy has none
   */
  default ScoringEngine newScorer() {
    throw new UnsupportedOperationException(
        "%s tells no log-probabilities of a prompt's tokens".formatted(describe()));
  }

  /** Releases what the engines share; they must be closed before. */
  @Override
  void close();
}
