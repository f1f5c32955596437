package io.troupe.tasks.sets;

import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import java.util.regex.Pattern;

/**
 * Grade-school word problems (Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems").
 *
 * <ul>
 *   <li>Question: {@code "Q: " + question + "\nA:"}, white space at both ends removed.
 *   <li>Answer: the text after the last {@code ####}, white space removed; thousands separators
 *       stay.
 *   <li>Solution: a space (the text ends with a colon), the worked solution without its calculator
 *       annotations {@code <<48/2=24>>}, and a last line {@code The answer is N.}, which is the
 *       sentence that the strict verifier looks for.
 *   <li>Id: {@code gsm8k_i}, i being the number of the row, from 0.
 * </ul>
 */
record Gsm8kRows(String idPrefix) implements RowFormat {
  private static final Pattern ANNOTATION = Pattern.compile("<<[^<>]*>>");
  private static final Pattern NUMBER = Pattern.compile("-?[0-9][0-9,]*(\\.[0-9]+)?");
  private static final String ANSWER_MARK = "####";

  @Override
  public RowOutcome read(Row row) throws RowException {
    String question = row.text("question").strip();
    String worked = row.text("answer");
    int mark = worked.lastIndexOf(ANSWER_MARK);
    if (mark < 0) {
      throw new RowException("\"answer\" must hold its final answer behind ####", worked);
    }
    String answer = worked.substring(mark + ANSWER_MARK.length()).strip();
    if (!NUMBER.matcher(answer).matches()) {
      throw new RowException("the final answer behind #### must be a number", answer);
    }
    String steps = ANNOTATION.matcher(worked.substring(0, mark)).replaceAll("").strip();
    return new RowOutcome.Taken(
        DataItem.of(
            idPrefix + row.number(),
            "Q: " + question + "\nA:",
            answer,
            " " + (steps.isEmpty() ? "" : steps + "\n") + "The answer is " + answer + "."));
  }
}
