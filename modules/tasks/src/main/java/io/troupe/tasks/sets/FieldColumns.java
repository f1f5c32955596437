package io.troupe.tasks.sets;

import static io.troupe.core.Require.require;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The columns of a user's own data set. Names with dots lead into objects: {@code
 * reward_model.ground_truth}.
 *
 * @param id column with the id; empty means {@code id} where rows have one, else an id made of the
 *     row's content
 * @param question text with columns in braces: {@code "Q: {question}\nA:"}
 * @param answer column with the answer
 * @param solution column with a completion worth imitating, which rows may lack; without effect
 *     where it is the answer's
 * @param verifier column with the row's own verifier; rows may lack it
 */
public record FieldColumns(
    String id, String question, String answer, String solution, String verifier) {
  private static final Pattern FIELD = Pattern.compile("\\{([A-Za-z0-9_.-]+)\\}");

  public FieldColumns {
    require(
        FIELD.matcher(question).find(),
        "the question names a field in braces, such as {prompt}, and \"%s\" names none",
        question);
  }

  /** Returns the places of the columns in the question. */
  Matcher places() {
    return FIELD.matcher(question);
  }

  /** Returns the columns that the question names. */
  List<String> asked() {
    return places().results().map(found -> found.group(1)).toList();
  }

  /** Whether the question is one column and nothing else. */
  boolean isOneColumn() {
    return FIELD.matcher(question.strip()).matches();
  }

  /** Whether rows may hold completions to imitate. */
  boolean imitates() {
    return !solution.isEmpty() && !solution.equals(answer);
  }
}
