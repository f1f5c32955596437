package io.troupe.tasks.sets;

import io.troupe.tasks.rows.BadRow;
import io.troupe.tasks.rows.Row;

/**
 * Competition problems of which the final answer stands apart: AIME, BeyondAIME, DeepScaleR.
 *
 * <p>The question is MATH's; the id is the prefix and the row's number, from 0; the solution is the
 * row's where it has one.
 */
record AnswerRows(String idPrefix) implements RowFormat {
  @Override
  public Reading read(Row row) throws BadRow {
    String solution = row.textOrEmpty("solution").strip();
    return new Reading.Taken(
        Item.of(
            idPrefix + row.number(),
            MathRows.question(row.text("problem")),
            row.scalar("answer"),
            solution.isEmpty() ? "" : " " + solution));
  }
}
