package io.troupe.engine.djl.model;

import java.util.Optional;

/** The reference policy of the KL penalty. */
public sealed interface ReferenceWeights {
  /** No weights were frozen. */
  record None() implements ReferenceWeights {}

  /** A copy of the weights at some moment. */
  record Frozen(ModelWeights copy) implements ReferenceWeights {}

  /** The weights below the adapters, which never move; they belong to the trainer. */
  record Base(ModelWeights base) implements ReferenceWeights {}

  /** The weights, if any were frozen. */
  default Optional<ModelWeights> weights() {
    return switch (this) {
      case None() -> Optional.empty();
      case Frozen(var copy) -> Optional.of(copy);
      case Base(var base) -> Optional.of(base);
    };
  }

  default void release() {
    switch (this) {
      case None(), Base(_) -> {}
      case Frozen(var copy) -> copy.close();
    }
  }
}
