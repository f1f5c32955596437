package io.troupe.tasks.sets;

import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;

/**
 * Competition problems of which the final answer stands apart: AIME, BeyondAIME, DeepScaleR.
 *
 * <p>The question is MATH's; the id is the prefix and the row's number, from 0; the solution is the
 * row's where it has one.
 */
record AnswerRows(String idPrefix) implements RowFormat {
  @Override
  public RowOutcome read(Row row) throws RowException {
    String solution = row.textOrEmpty("solution").strip();
    return new RowOutcome.Taken(
        DataItem.of(
            idPrefix + row.number(),
            MathRows.question(row.text("problem")),
            row.scalar("answer"),
            solution.isEmpty() ? "" : " " + solution));
  }
}
