package io.troupe.engine;

import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.train.TrainingEngine;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The engines of one policy. Trainer and samplers have the same architecture and tokenizer; a
 * sampler gets its weights from snapshots of the trainer.
 */
public interface PolicyEngines extends AutoCloseable {
  Tokenizer tokenizer();

  /** Returns the most tokens of prompt and completion together. */
  int contextLength();

  /** Returns one line for the start banner: family, sizes, parameters. */
  String describe();

  /**
   * Returns where the engines compute, for the start banner: device, library and version, threads.
   */
  String device();

  /**
   * Creates a trainer with freshly initialised weights.
   *
   * @param seed of the initial weights
   */
  TrainingEngine newTrainer(long seed);

  /** Creates a sampler without weights. */
  SamplingEngine newSampler();

  /**
   * Creates a sampler without weights that computes on one thread, for few completions beside the
   * work of other engines.
   */
  default SamplingEngine newSideSampler() {
    return newSampler();
  }

  /**
   * Creates a scorer without weights.
   *
   * @throws UnsupportedOperationException if this policy has none
   */
  default ScoringEngine newScorer() {
    throw new UnsupportedOperationException(
        "%s does not report log-probabilities of a prompt's tokens".formatted(describe()));
  }

  /**
   * Creates one rank of a data-parallel trainer whose ranks share the CPUs of this host.
   *
   * @throws UnsupportedOperationException if this policy has none
   */
  default TrainerRank newRank(int ranks) {
    throw new UnsupportedOperationException("%s cannot be trained by ranks".formatted(describe()));
  }

  /**
   * Creates what samples recorded groups again, bit for bit.
   *
   * @throws UnsupportedOperationException if this policy has none
   */
  default GroupReplay newGroupReplay() {
    throw new UnsupportedOperationException(
        "%s does not sample a recorded group again bit for bit".formatted(describe()));
  }

  /** Returns what the bits that the engines compute depend on: library, build, machine, threads. */
  default SortedMap<String, String> facts() {
    return new TreeMap<>();
  }

  /** Releases the resources that the engines share; the engines must be closed before. */
  @Override
  void close();
}
