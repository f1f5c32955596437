package io.troupe.engine.djl.model;

import java.util.Optional;

/** The reference policy of the KL penalty. */
public sealed interface ReferenceWeights {
  /** No weights were frozen. */
  record None() implements ReferenceWeights {}

  /** A frozen copy of former weights. */
  record Frozen(ModelWeights copy) implements ReferenceWeights {}

  /** The base weights of adapters, which never change; the trainer owns them. */
  record Base(ModelWeights base) implements ReferenceWeights {}

  /** Returns the weights, if any were frozen. */
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
