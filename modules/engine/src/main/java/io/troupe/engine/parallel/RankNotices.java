package io.troupe.engine.parallel;

/** Takes what the user of a trainer with ranks should know. Callable from any thread. */
@FunctionalInterface
public interface RankNotices {
  /** Takes a sentence. */
  void say(String sentence);

  /**
   * Takes that the ranks begin again from their last saved state.
   *
   * @param steps that they make again before they continue
   * @param reason why copies in the memory of ranks do not do
   */
  default void wentBack(long steps, String reason) {
    say(
        "%s; the ranks go back to their last saved state and make %d %s again first"
            .formatted(reason, steps, steps == 1 ? "step" : "steps"));
  }
}
