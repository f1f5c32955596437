package io.troupe.telemetry;

import java.util.ArrayList;
import java.util.List;

/**
 * Rows on their way to whoever watches, in order of steps: a row waits for its evaluation, and
 * later rows wait behind it.
 *
 * @param waiting in order
 */
public record RowQueue(List<Waiting> waiting) {
  /** Nothing waits. */
  public static final RowQueue EMPTY = new RowQueue(List.of());

  /** A row, and whether its evaluation is still to come. */
  record Waiting(StepRow row, boolean evaluationDue) {}

  public RowQueue {
    waiting = List.copyOf(waiting);
  }

  /** With one more row at the end. */
  public RowQueue add(StepRow row, boolean evaluationDue) {
    List<Waiting> next = new ArrayList<>(waiting);
    next.add(new Waiting(row, evaluationDue));
    return new RowQueue(next);
  }

  /** With the evaluation of a step filled in. */
  public RowQueue evaluated(long step, double accuracy) {
    return new RowQueue(
        waiting.stream()
            .map(
                one ->
                    one.row().step() == step
                        ? new Waiting(one.row().evaluated(accuracy), false)
                        : one)
            .toList());
  }

  /** Without waiting for the evaluation of a step any more. */
  public RowQueue abandoned(long step) {
    return new RowQueue(
        waiting.stream()
            .map(one -> one.row().step() == step ? new Waiting(one.row(), false) : one)
            .toList());
  }

  /** Rows that can go now. */
  public List<StepRow> ready() {
    return waiting.stream().takeWhile(one -> !one.evaluationDue()).map(Waiting::row).toList();
  }

  /** What is left once the ready rows are gone. */
  public RowQueue rest() {
    return new RowQueue(waiting.stream().dropWhile(one -> !one.evaluationDue()).toList());
  }

  public boolean isEmpty() {
    return waiting.isEmpty();
  }
}
