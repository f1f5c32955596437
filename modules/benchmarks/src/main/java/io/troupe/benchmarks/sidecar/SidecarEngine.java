package io.troupe.benchmarks.sidecar;

import io.troupe.benchmarks.engine.ModelSize;
import io.troupe.benchmarks.engine.TrainCase;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;

/** An engine that both sides of {@link SidecarBenchmark} make alike. */
enum SidecarEngine {
  /** See {@link InstantSampler}. */
  INSTANT,
  TINY,
  SMALL;

  static final int CONTEXT = 256;
  private static final int MICRO_BATCH_TOKENS = 4096;

  /** The engine with what it shares. */
  record Open(PolicyEngines policy, SamplingEngine sampler) implements AutoCloseable {
    @Override
    public void close() {
      sampler.close();
      policy.close();
    }
  }

  private ModelSize size() {
    return this == SMALL ? ModelSize.SMALL : ModelSize.TINY;
  }

  Tokenizer tokenizer() {
    return size().tokenizer();
  }

  Open open() {
    PolicyEngines policy = policy();
    return new Open(policy, this == INSTANT ? new InstantSampler() : policy.newSampler());
  }

  /** Returns the weights that a trainer of the policy begins with. */
  WeightSnapshot weights() {
    try (PolicyEngines policy = policy();
        TrainingEngine trainer = policy.newTrainer(TrainCase.SEED)) {
      return trainer.snapshot(WeightVersion.BASE);
    }
  }

  private PolicyEngines policy() {
    return this == INSTANT
        ? new ToyPolicy(ToySettings.of("0123456789+=", CONTEXT))
        : DjlPolicy.create(
            size().settings(CONTEXT), tokenizer(), ComputeSettings.of(1, 1, MICRO_BATCH_TOKENS));
  }
}
