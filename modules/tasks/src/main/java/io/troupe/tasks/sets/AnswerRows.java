package io.troupe.tasks.sets;

import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;

/**
 * Competition problems with the final answer in a field of its own: AIME, BeyondAIME, DeepScaleR.
 *
 * <p>The question has the form of MATH; the id is the prefix and the row's number, from 0; the
 * solution is that of the row, if any.
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
