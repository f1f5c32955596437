package io.troupe.engine.djl;

/** The reference policy of the KL penalty. */
sealed interface Reference {
  /** No weights were frozen. */
  record None() implements Reference {}

  /** A copy of the weights at some moment. */
  record Frozen(Weights weights) implements Reference {}

  default void release() {
    switch (this) {
      case None() -> {}
      case Frozen(var weights) -> weights.close();
    }
  }
}
