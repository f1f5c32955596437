package io.troupe.verifiers.math.compare;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Answers in words: phrases that say the same, names joined by "and", dates. */
final class WordAnswers {
  static final String NO_SOLUTION = "no solution";
  static final String INFINITE = "infinitely many";
  static final String ALL_INTEGERS = "all integers";
  static final String ALL_REALS = "all real numbers";

  private static final Map<String, String> PHRASES = phrases();

  private static final Pattern DATE =
      Pattern.compile(
          "(?:([a-z]{3,9})\\.? ?([0-9]{1,2})(?:st|nd|rd|th)?"
              + "|([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? ?([a-z]{3,9})\\.?),? ?([0-9]{4})?");

  /** {@code any positive integer}, as all of them. */
  private static final Pattern EACH = Pattern.compile("(?:any|every|each) ([a-z ]{3,60}?)s?");

  private static final Pattern ADJECTIVE = Pattern.compile("(?!none)[a-z-]{4,}");

  /** A noun behind the adjective that is the answer: {@code isosceles triangle}. */
  private static final Pattern HEAD =
      Pattern.compile(" (?:triangle|function|number|series|angle|sequence|polygon)$");

  /** A sentence whose adjective is the answer: {@code the function is even}. */
  private static final Pattern SUBJECT =
      Pattern.compile(
          "^(?:it|triangle|function|number|series|angle|sequence|polygon) is (?:an? )?");

  private static final List<String> MONTHS =
      List.of("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec");

  private WordAnswers() {}

  private static Map<String, String> phrases() {
    String[] rows = {
      "no solution|no solutions|there is no solution|there are no solutions|has no solution"
          + "|has no solutions|no such solution|none exist|no solution exists|no solutions exist"
          + "|there is no such solution|it has no solution|no answer|empty set|null set",
      "no real solution|no real solutions|there are no real solutions|no real roots"
          + "|there is no real solution|there are no real roots|no real solution exists",
      "does not exist|dne|it does not exist|the limit does not exist|limit does not exist",
      "infinitely many|infinitely many solutions|there are infinitely many|infinite solutions"
          + "|there are infinitely many solutions|infinite number of solutions"
          + "|infinitely many solution|an infinite number of solutions|infinite|infinite number",
      "all real numbers|all reals|any real number|all real x|all real numbers x|every real number"
          + "|set of all real numbers|real numbers|all real values|all real values of x"
          + "|x is any real number|x can be any real number",
      ALL_INTEGERS + "|integers|set of all integers|set of integers|any integer|every integer",
      "yes|yes it is|yes, it is",
      "no|no it is not|no, it is not",
      "true|it is true|statement is true",
      "false|it is false|statement is false",
      "converges|convergent|series converges|it converges|integral converges|it is convergent",
      "diverges|divergent|series diverges|it diverges|integral diverges|it is divergent",
      "impossible|not possible|it is impossible|it is not possible"
    };
    Map<String, String> map = new HashMap<>();
    for (String row : rows) {
      String[] same = row.split("\\|", -1);
      for (String phrase : same) {
        map.put(phrase, same[0]);
      }
    }
    return Map.copyOf(map);
  }

  /** One phrase for all that say the same. */
  static String canonical(String words) {
    String phrase = PHRASES.getOrDefault(words, words);
    Matcher all = EACH.matcher(phrase);
    return all.matches() ? "all " + all.group(1) : phrase;
  }

  /** Whether plain words, in lower case, say the same. */
  static boolean isSame(String gold, String answer) {
    if (canonical(gold).equals(canonical(answer))
        || (canonical(gold) + "s").equals(canonical(answer))
        || canonical(gold).equals(canonical(answer) + "s")) {
      return true;
    }
    if (ADJECTIVE.matcher(gold).matches() && withoutHead(answer).equals(gold)) {
      return true;
    }
    List<String> wanted = names(gold);
    if (wanted.size() > 1 && wanted.equals(names(answer))) {
      return true;
    }
    Optional<String> date = date(gold);
    return date.isPresent() && date.equals(date(answer));
  }

  private static String withoutHead(String words) {
    return HEAD.matcher(SUBJECT.matcher(words).replaceFirst("")).replaceFirst("");
  }

  private static List<String> names(String words) {
    List<String> names = new ArrayList<>();
    for (String name : words.split(",? and |, ?", 20)) {
      names.add(name.strip());
    }
    Collections.sort(names);
    return names;
  }

  private static Optional<String> date(String words) {
    Matcher date = DATE.matcher(words);
    if (!date.matches()) {
      return Optional.empty();
    }
    boolean monthFirst = date.group(1) != null;
    String month = monthFirst ? date.group(1) : date.group(4);
    String day = monthFirst ? date.group(2) : date.group(3);
    int number = MONTHS.indexOf(month.substring(0, 3));
    boolean named =
        number >= 0
            && ("january february march april may june july august september october november"
                    + " december sept")
                .contains(month);
    return named
        ? Optional.of(
            "%d-%d-%s".formatted(number, Integer.parseInt(day), String.valueOf(date.group(5))))
        : Optional.empty();
  }
}
