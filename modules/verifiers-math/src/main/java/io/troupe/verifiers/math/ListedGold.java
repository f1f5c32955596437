package io.troupe.verifiers.math;

import io.troupe.verifiers.math.compare.AnswerEquivalence;
import io.troupe.verifiers.math.expr.StepBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An expected answer that is a list of texts, as JSON or Python writes it: {@code ["18"]}, {@code
 * ["0.5", "\\frac{1}{2}"]}, {@code ['1', '2']}.
 *
 * <p>Texts that mean the same are one answer. Others are the parts of one answer, in any order:
 * were each of them right by itself, a policy would be paid for half of an answer.
 */
final class ListedGold {
  private static final Pattern ITEM =
      Pattern.compile("\\s*(?:\"((?:[^\"\\\\]|\\\\.)*)\"|'([^']*)')\\s*(,|\\]\\s*$)");

  /** A character as JSON writes it in ASCII. */
  private static final Pattern ESCAPED = Pattern.compile("(?<!\\\\)\\\\u([0-9a-fA-F]{4})");

  private ListedGold() {}

  /** The answer that a list means; any other text is itself. */
  static String of(String written) {
    List<String> texts = texts(written.strip());
    if (texts.isEmpty()) {
      return written;
    }
    String first = texts.getFirst();
    StepBudget budget = new StepBudget();
    boolean same =
        texts.stream()
            .allMatch(
                text ->
                    text.equals(first) || AnswerEquivalence.compare(first, text, budget).isEqual());
    return same ? first : String.join(", ", texts);
  }

  private static List<String> texts(String list) {
    if (!list.startsWith("[") || !list.endsWith("]")) {
      return List.of();
    }
    List<String> texts = new ArrayList<>();
    Matcher item = ITEM.matcher(list);
    int at = 1;
    while (at < list.length()) {
      if (!item.find(at) || item.start() != at) {
        return List.of();
      }
      String text = item.group(1) == null ? item.group(2) : item.group(1);
      texts.add(unescaped(text));
      at = item.end();
    }
    return texts;
  }

  private static String unescaped(String text) {
    return ESCAPED
        .matcher(text)
        .replaceAll(
            found ->
                Matcher.quoteReplacement(
                    String.valueOf((char) Integer.parseInt(found.group(1), 16))))
        .replace("\\\\", "\\")
        .replace("\\\"", "\"");
  }
}
