package io.troupe.engine.djl;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.WeightSnapshot;

/** The weights of a trainer, and which of them move. */
sealed interface Trained extends AutoCloseable {
  /** Of the given first weights. */
  static Trained of(Tuning tuning, Weights first, long seed) {
    return switch (tuning) {
      case Tuning.Full() -> new Whole(first);
      case Tuning.LowRank settings -> new Adapted(first, Adapters.random(settings, first, seed));
    };
  }

  /** What moves. */
  Weights moved();

  /** All weights of the policy, adapters aside. */
  Weights whole();

  /** What moves, as the leaves of a step. */
  Leaves leaves();

  /** These weights, as a version. */
  WeightSnapshot snapshot(Decoder decoder, WeightVersion version);

  /** The reference policy that is these weights. */
  Reference reference(Decoder decoder, boolean moved);

  @Override
  void close();

  /** All weights move. */
  record Whole(Weights moved) implements Trained {
    @Override
    public Weights whole() {
      return moved;
    }

    @Override
    public Leaves leaves() {
      return Leaves.of(moved);
    }

    @Override
    public WeightSnapshot snapshot(Decoder decoder, WeightVersion version) {
      return moved.snapshot(version);
    }

    @Override
    public Reference reference(Decoder decoder, boolean hasMoved) {
      return new Reference.Frozen(moved.copy());
    }

    @Override
    public void close() {
      moved.close();
    }
  }

  /** Adapters move beside a frozen base. */
  record Adapted(Weights base, Adapters adapters) implements Trained {
    @Override
    public Weights whole() {
      return base;
    }

    @Override
    public Weights moved() {
      return adapters.weights();
    }

    @Override
    public Leaves leaves() {
      return Leaves.of(base, adapters);
    }

    @Override
    public WeightSnapshot snapshot(Decoder decoder, WeightVersion version) {
      try (Weights merged = adapters.merged(decoder, base)) {
        return merged
            .snapshot(version)
            .with(adapters.settings().adapter(adapters.weights().copies()));
      }
    }

    /** Before the first step the adapters add nothing: the base itself is the reference. */
    @Override
    public Reference reference(Decoder decoder, boolean hasMoved) {
      return hasMoved
          ? new Reference.Frozen(adapters.merged(decoder, base))
          : new Reference.Base(base);
    }

    @Override
    public void close() {
      base.close();
      adapters.close();
    }
  }
}
