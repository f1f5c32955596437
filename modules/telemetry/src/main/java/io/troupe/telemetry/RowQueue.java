package io.troupe.telemetry;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Rows on their way to their readers, in order of steps: a row waits for its evaluation, and later
 * rows wait behind it.
 *
 * <p>A checkpoint does not wait for an evaluation, so it carries the rows that are not in
 * metrics.jsonl when it is asked for, with the row of its own step. A row is left out of it only
 * once the operating system has the row's line. So every row up to the checkpoint is in the file,
 * in the checkpoint, or in both, at whatever moment the process is killed. A resume cuts the rows
 * of later steps off the file, whose weights are gone; since rows reach the file in order, the file
 * then ends with some step, and what is missing is what the checkpoint carries {@linkplain #missing
 * beyond it}. Until those rows are written, the next checkpoint carries them again.
 *
 * @param waiting in order
 */
public record RowQueue(List<Waiting> waiting) {
  /** A queue without rows. */
  public static final RowQueue EMPTY = new RowQueue(List.of());

  /** A row, and whether its evaluation is still to come. */
  record Waiting(StepRow row, boolean evaluationDue) {}

  public RowQueue {
    waiting = List.copyOf(waiting);
  }

  /** Returns this queue with one more row at the end. */
  public RowQueue add(StepRow row, boolean evaluationDue) {
    List<Waiting> next = new ArrayList<>(waiting);
    next.add(new Waiting(row, evaluationDue));
    return new RowQueue(next);
  }

  /** With the run's own evaluation of a step filled in. */
  public RowQueue evaluated(long step, double accuracy) {
    return evaluated(step, StepScores.of(accuracy));
  }

  /** With the evaluations of a step filled in. */
  public RowQueue evaluated(long step, StepScores scores) {
    return new RowQueue(
        waiting.stream()
            .map(
                one ->
                    one.row().step() == step
                        ? new Waiting(one.row().evaluated(scores), false)
                        : one)
            .toList());
  }

  /** Returns this queue, which waits for the evaluation of a step no more. */
  public RowQueue withoutEvaluation(long step) {
    return new RowQueue(
        waiting.stream()
            .map(one -> one.row().step() == step ? new Waiting(one.row(), false) : one)
            .toList());
  }

  /** Returns this queue without the rows up to a step, which are written. */
  public RowQueue afterStep(long step) {
    return new RowQueue(waiting.stream().filter(one -> one.row().step() > step).toList());
  }

  /**
   * Returns the rows of the checkpoint that a process that resumes has to write. The evaluation of
   * the checkpoint's own step is made again with its weights, which are the same; an earlier step's
   * weights are gone, and its row goes without.
   *
   * @param written the last step in metrics.jsonl, -1 if there is none
   * @param checkpoint step of the checkpoint
   */
  public RowQueue missing(long written, long checkpoint) {
    return new RowQueue(
        afterStep(written).waiting.stream()
            .map(
                one ->
                    new Waiting(one.row(), one.evaluationDue() && one.row().step() == checkpoint))
            .toList());
  }

  /** The step whose evaluation the first row that cannot go waits for. */
  public OptionalLong awaitedEvaluation() {
    return waiting.stream()
        .filter(Waiting::evaluationDue)
        .mapToLong(one -> one.row().step())
        .findFirst();
  }

  /** Returns the rows that can be written now. */
  public List<StepRow> ready() {
    return waiting.stream().takeWhile(one -> !one.evaluationDue()).map(Waiting::row).toList();
  }

  /** Returns the queue without the ready rows. */
  public RowQueue withoutReady() {
    return new RowQueue(waiting.stream().dropWhile(one -> !one.evaluationDue()).toList());
  }

  public boolean isEmpty() {
    return waiting.isEmpty();
  }
}
