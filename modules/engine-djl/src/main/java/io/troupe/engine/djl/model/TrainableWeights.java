package io.troupe.engine.djl.model;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;

/** The weights of a trainer, and the part of them that it trains. */
public sealed interface TrainableWeights extends AutoCloseable {
  /** Creates trainable weights from the given first weights. */
  static TrainableWeights of(Tuning tuning, ModelWeights first, long seed) {
    return switch (tuning) {
      case Tuning.Full() -> new Whole(first);
      case Tuning.LowRank settings ->
          new Adapted(first, LowRankAdapters.random(settings, first, seed));
    };
  }

  /** Returns the tensors that training updates. */
  ModelWeights trainable();

  /** Returns all weights of the policy except adapters. */
  ModelWeights whole();

  /** Returns the trainable tensors as the leaves of a step. */
  GradientLeaves leaves();

  /** Returns a snapshot of these weights as a version. */
  WeightSnapshot snapshot(Decoder decoder, WeightVersion version);

  /** Returns these weights as the reference policy. */
  ReferenceWeights reference(Decoder decoder, boolean moved);

  @Override
  void close();

  /** Training updates all weights. */
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

  /** Training updates adapters beside a frozen base. */
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
