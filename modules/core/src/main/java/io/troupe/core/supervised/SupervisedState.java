package io.troupe.core.supervised;

import static io.troupe.core.Require.invariant;

/**
 * The state of a supervised run, as a fold over its journal.
 *
 * @param step the last step that was made or skipped
 * @param rows trained so far, each as often as it was
 * @param tokens trained so far
 * @param skippedInARow steps since the last one that moved the weights
 * @param over whether the run ended after its last step
 */
public record SupervisedState(long step, long rows, long tokens, int skippedInARow, boolean over) {
  /** Before the first step. */
  public static final SupervisedState INITIAL = new SupervisedState(0, 0, 0, 0, false);

  /** Steps in a row that cannot be made and end the run. */
  public static final int MOST_SKIPPED = 3;

  /**
   * The state after an event.
   *
   * @throws IllegalStateException if the event cannot follow
   */
  public SupervisedState evolve(SupervisedEvent event) {
    return switch (event) {
      case SupervisedEvent.Started(long from, int _, String _) -> {
        invariant(
            from == step, "a process continues from step %d, and the state is %d", from, step);
        yield new SupervisedState(step, rows, tokens, skippedInARow, false);
      }
      case SupervisedEvent.Stepped(SupervisedStep made) -> {
        requireNext(made.step());
        yield new SupervisedState(
            made.step(), rows + made.rows(), tokens + made.tokens(), 0, false);
      }
      case SupervisedEvent.StepSkipped(long skipped, String _) -> {
        requireNext(skipped);
        yield new SupervisedState(skipped, rows, tokens, skippedInARow + 1, false);
      }
      case SupervisedEvent.Evaluated(long at, String _, double _) -> requirePresent(at);
      case SupervisedEvent.CheckpointSaved(long at) -> requirePresent(at);
      case SupervisedEvent.Ended(SupervisedEvent.Reason reason) ->
          new SupervisedState(
              step, rows, tokens, skippedInARow, reason == SupervisedEvent.Reason.COMPLETED);
    };
  }

  /** Whether too many steps in a row could not be made for another attempt. */
  public boolean hopeless() {
    return skippedInARow >= MOST_SKIPPED;
  }

  private void requireNext(long next) {
    invariant(next == step + 1, "step %d follows step %d", next, step);
  }

  private SupervisedState requirePresent(long at) {
    invariant(at == step, "step %d is evaluated and saved, and the state is %d", at, step);
    return this;
  }
}
