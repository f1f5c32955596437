package io.troupe.engine;

import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.train.TrainingEngine;

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

  /**
   * One of so many ranks of a data-parallel trainer on this host, which share its processors.
   *
   * @throws UnsupportedOperationException if this policy has none
   */
  default TrainerRank newRank(int ranks) {
    throw new UnsupportedOperationException("%s is not trained by ranks".formatted(describe()));
  }

  /** Releases what the engines share; they must be closed before. */
  @Override
  void close();
}
