package io.troupe.tasks.sets;

import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Competition problems with worked solutions (Hendrycks et al. 2021, "Measuring Mathematical
 * Problem Solving With the MATH Dataset"; the 500 of Lightman et al. 2023).
 *
 * <ul>
 *   <li>Question: {@code "Problem:\n" + problem + "\n\nSolution:"}.
 *   <li>Answer: {@code answer} if the row has it, else the content of the last box of its solution.
 *   <li>Solution: a space and the worked solution.
 *   <li>Id: {@code math_subject_i}, i being the row's number within its subject, from 0,
 *       independent of filters; a row with a {@code unique_id} has an id made of that: {@code
 *       math_test_precalculus_807}.
 *   <li>Facets: {@code level}, 1 to 5 or "?", and {@code subject}, normalised: {@code
 *       counting_and_probability}.
 * </ul>
 */
final class MathRows implements RowFormat {
  private final String idPrefix;
  private final Map<String, Integer> rowsOfSubject = new HashMap<>();

  MathRows(String idPrefix) {
    this.idPrefix = idPrefix;
  }

  /** Returns the question of a problem that asks for a worked solution. */
  static String question(String problem) {
    return "Problem:\n" + problem + "\n\nSolution:";
  }

  @Override
  public RowOutcome read(Row row) throws RowException {
    String subject = normalised(row.text(row.has("type") ? "type" : "subject"));
    int within = rowsOfSubject.merge(subject, 1, Integer::sum) - 1;
    String problem = row.text("problem");
    String solution = row.text("solution");
    String answer =
        row.has("answer")
            ? row.scalar("answer")
            : BoxedText.last(solution)
                .orElseThrow(
                    () ->
                        new RowException(
                            "\"solution\" must end with its answer in \\boxed{}", solution));
    return new RowOutcome.Taken(
        DataItem.of(
                row.has("unique_id")
                    ? "math_" + named(row.text("unique_id"))
                    : idPrefix + subject + "_" + within,
                question(problem),
                answer,
                " " + solution)
            .with("subject", subject)
            .with("level", level(row)));
  }

  /** "Counting & Probability" and "counting_and_probability" are one subject. */
  static String normalised(String subject) {
    return subject
        .strip()
        .toLowerCase(Locale.ROOT)
        .replace("&", "and")
        .replaceAll("[^a-z0-9]+", "_");
  }

  private static String named(String uniqueId) {
    return uniqueId.replaceFirst("\\.json$", "").replace('/', '_');
  }

  private static String level(Row row) throws RowException {
    String level = row.scalar("level").replaceFirst("^Level ", "");
    if (!level.matches("[1-5?]")) {
      throw row.bad("level", "must be Level 1 to Level 5");
    }
    return level;
  }
}
