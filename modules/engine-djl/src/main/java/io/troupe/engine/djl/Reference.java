package io.troupe.engine.djl;

import java.util.Optional;

/** The reference policy of the KL penalty. */
sealed interface Reference {
  /** No weights were frozen. */
  record None() implements Reference {}

  /** A copy of the weights at some moment. */
  record Frozen(Weights copy) implements Reference {}

  /** The weights below the adapters, which never move; they belong to the trainer. */
  record Base(Weights base) implements Reference {}

  /** The weights, if any were frozen. */
  default Optional<Weights> weights() {
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
