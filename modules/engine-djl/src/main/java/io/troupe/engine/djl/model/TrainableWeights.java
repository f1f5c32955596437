package io.troupe.engine.djl.model;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;

/** The weights of a trainer, and which of them move. */
public sealed interface TrainableWeights extends AutoCloseable {
  /** Of the given first weights. */
  static TrainableWeights of(Tuning tuning, ModelWeights first, long seed) {
    return switch (tuning) {
      case Tuning.Full() -> new Whole(first);
      case Tuning.LowRank settings ->
          new Adapted(first, LowRankAdapters.random(settings, first, seed));
    };
  }

  /** What moves. */
  ModelWeights trainable();

  /** All weights of the policy, adapters aside. */
  ModelWeights whole();

  /** What moves, as the leaves of a step. */
  GradientLeaves leaves();

  /** These weights, as a version. */
  WeightSnapshot snapshot(Decoder decoder, WeightVersion version);

  /** The reference policy that is these weights. */
  ReferenceWeights reference(Decoder decoder, boolean moved);

  @Override
  void close();

  /** All weights move. */
  record Whole(ModelWeights trainable) implements TrainableWeights {
    @Override
    public ModelWeights whole() {
      return trainable;
    }

    @Override
    public GradientLeaves leaves() {
      return GradientLeaves.of(trainable);
    }

    @Override
    public WeightSnapshot snapshot(Decoder decoder, WeightVersion version) {
      return trainable.snapshot(version);
    }

    @Override
    public ReferenceWeights reference(Decoder decoder, boolean hasMoved) {
      return new ReferenceWeights.Frozen(trainable.copy());
    }

    @Override
    public void close() {
      trainable.close();
    }
  }

  /** Adapters move beside a frozen base. */
  record Adapted(ModelWeights base, LowRankAdapters adapters) implements TrainableWeights {
    @Override
    public ModelWeights whole() {
      return base;
    }

    @Override
    public ModelWeights trainable() {
      return adapters.weights();
    }

    @Override
    public GradientLeaves leaves() {
      return GradientLeaves.of(base, adapters);
    }

    @Override
    public WeightSnapshot snapshot(Decoder decoder, WeightVersion version) {
      try (ModelWeights merged = adapters.merged(decoder, base)) {
        return merged
            .snapshot(version)
            .with(adapters.settings().adapter(adapters.weights().copies()));
      }
    }

    /** Before the first step the adapters add nothing: the base itself is the reference. */
    @Override
    public ReferenceWeights reference(Decoder decoder, boolean hasMoved) {
      return hasMoved
          ? new ReferenceWeights.Frozen(adapters.merged(decoder, base))
          : new ReferenceWeights.Base(base);
    }

    @Override
    public void close() {
      base.close();
      adapters.close();
    }
  }
}
