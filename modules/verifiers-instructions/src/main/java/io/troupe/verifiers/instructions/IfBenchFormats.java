package io.troupe.verifiers.instructions;

import static io.troupe.base.text.PythonText.isBlank;
import static io.troupe.base.text.PythonText.isPunctuation;
import static io.troupe.base.text.PythonText.lower;
import static io.troupe.base.text.PythonText.split;
import static io.troupe.base.text.PythonText.strip;
import static io.troupe.base.text.PythonText.withoutPunctuation;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.language.PunktSplitter;
import io.troupe.verifiers.language.WordTokenizer;
import io.troupe.verifiers.python.PythonPattern;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Conditions of IFBench on the form of an answer. */
final class IfBenchFormats {
  private static final PythonPattern LETTERED =
      PythonPattern.compile("\\A\\W*[aA]\\W*[bB]\\W*[cC]\\W*");

  private IfBenchFormats() {}

  /** Brackets of any kind five deep, closed in order; a wrong bracket starts the count again. */
  static boolean nestsBrackets(String answer) {
    Deque<Character> open = new ArrayDeque<>();
    int deepest = 0;
    for (int i = 0; i < answer.length(); i++) {
      char c = answer.charAt(i);
      int kind = ")]}".indexOf(c);
      if ("([{".indexOf(c) >= 0) {
        open.push(c);
        deepest = Math.max(deepest, open.size());
      } else if (kind >= 0 && !open.isEmpty() && open.peek() == "([{".charAt(kind)) {
        open.pop();
        if (deepest >= 5) {
          return true;
        }
      } else if (kind >= 0) {
        open.clear();
        deepest = 0;
      }
    }
    return false;
  }

  /** Quotes of alternating kinds three deep, all closed again. */
  static boolean nestsQuotes(String answer) {
    Deque<Character> open = new ArrayDeque<>();
    int deepest = 0;
    for (int i = 0; i < answer.length(); i++) {
      char c = answer.charAt(i);
      if (!open.isEmpty() && open.peek() == c) {
        open.pop();
        if (deepest - open.size() >= 3) {
          return true;
        }
      } else if (c == '"' || c == '\'') {
        open.push(c);
        deepest = Math.max(deepest, open.size());
      }
    }
    return false;
  }

  static boolean usesAllPunctuation(String answer) {
    if (!answer.contains("!?") && !answer.contains("?!") && !answer.contains("‽")) {
      return false;
    }
    String mark = answer.contains("?!") ? "?!" : "!?";
    int at = answer.indexOf(mark);
    String rest = at < 0 ? answer : answer.substring(0, at) + answer.substring(at + 2);
    return ".,!?;:".chars().allMatch(c -> rest.indexOf(c) >= 0);
  }

  /**
   * Checks that options are lettered as written; words less punctuation at the ends, whatever their
   * case.
   */
  static Predicate<String> options(InstructionArguments arguments) {
    String text = arguments.text("options");
    String separator = text.contains("/") ? "/" : text.contains("or") ? "or" : ",";
    List<String> options = split(text, separator).stream().map(PythonText::strip).toList();
    if (LETTERED.isFoundIn(text)) {
      return options::contains;
    }
    List<String> bare = options.stream().map(option -> lower(IfBenchWords.bare(option))).toList();
    return answer -> bare.contains(lower(IfBenchWords.bare(answer)));
  }

  static boolean hasWordALine(String answer) {
    String text = strip(withoutPunctuation(answer));
    long lines = split(text, "\n").stream().filter(line -> !line.isEmpty()).count();
    return lines == split(text).size();
  }

  /** Whether each line is indented by more spaces than the one before. */
  static boolean isStairs(String answer) {
    List<String> lines = withoutSomeBlanks(split(answer, "\n"));
    for (int i = 0; i + 1 < lines.size(); i++) {
      if (indent(lines.get(i + 1)) <= indent(lines.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static int indent(String line) {
    return line.length() - PythonText.stripStart(line, c -> c == ' ').length();
  }

  /**
   * The lines less blank ones, but for those that the reference misses: it removes from the list it
   * iterates over, so that the line behind a removed one is never looked at, and what goes is the
   * first line equal to the one looked at, which may be one missed before.
   */
  private static List<String> withoutSomeBlanks(List<String> lines) {
    List<String> kept = new ArrayList<>();
    Set<Integer> removed = new HashSet<>();
    Map<String, Deque<Integer>> missed = new HashMap<>();
    boolean look = true;
    for (String line : lines) {
      boolean blank = isBlank(line);
      if (!look) {
        if (blank) {
          missed.computeIfAbsent(line, key -> new ArrayDeque<>()).add(kept.size());
        }
        kept.add(line);
        look = true;
      } else if (blank) {
        Deque<Integer> equal = missed.getOrDefault(line, new ArrayDeque<>());
        if (!equal.isEmpty()) {
          removed.add(equal.remove());
          equal.add(kept.size());
          kept.add(line);
        }
        look = false;
      } else {
        kept.add(line);
      }
    }
    List<String> left = new ArrayList<>();
    for (int i = 0; i < kept.size(); i++) {
      if (!removed.contains(i)) {
        left.add(kept.get(i));
      }
    }
    return left;
  }

  /** No two straight quotes touch, white space aside, and none ends the text. */
  static boolean explainsQuotes(String answer) {
    String text = answer.replace("'\"'", "");
    String joined = String.join("", split(text));
    String stripped = strip(joined, c -> c != '"' && (isPunctuation(c) || (c >= '0' && c <= '9')));
    return !joined.contains("\"\"") && !stripped.endsWith("\"");
  }

  static Predicate<String> separators(InstructionArguments arguments) {
    String separator = arguments.text("sep");
    return answer -> PythonText.count(answer, separator) >= 2;
  }

  /** Whether an answer has words in italics with text behind them. */
  static boolean hasThesis(String answer) {
    int start = answer.contains("<i>") ? answer.indexOf("<i>") : answer.indexOf("<em>");
    if (start < 0) {
      return false;
    }
    String text = answer.substring(start);
    int end = text.contains("</i>") ? text.indexOf("</i>") : text.indexOf("</em>");
    return end >= 0
        && !isBlank(text.substring(Math.min(3, end), end))
        && !isBlank(text.substring(end + 4));
  }

  /** Behind every asterisk, up to the next, is a hyphen; text without asterisks passes. */
  static boolean hasSubBullets(String answer) {
    return split(answer, "*").stream().skip(1).allMatch(part -> part.contains("-"));
  }

  /** At least two sentences, then at least two lines with *; only one blank line between them. */
  static boolean hasSentencesThenBullets(String answer) {
    boolean prose = true;
    int sentences = 0;
    int bullets = 0;
    for (String line : split(answer, "\n")) {
      String text = strip(line);
      if (text.startsWith("*")) {
        prose = false;
        if (sentences < 2) {
          return false;
        }
        bullets++;
      } else if (prose) {
        int found = PunktSplitter.english().sentences(text).size();
        prose = found > 0;
        sentences += found;
      } else {
        return false;
      }
    }
    return bullets >= 2;
  }

  /** No token is all lower case; mixed ones such as iPhone pass. */
  static boolean isTitleCase(String answer) {
    return WordTokenizer.words(answer).stream().noneMatch(IfBenchFormats::breaksTitleCase);
  }

  private static boolean breaksTitleCase(String word) {
    int first = word.codePointAt(0);
    if (!Character.isLetter(first) || !Character.isLowerCase(first)) {
      return false;
    }
    String rest = word.substring(Character.charCount(first));
    return rest.isEmpty() || PythonText.isUpper(rest) || PythonText.isLower(rest);
  }

  static boolean fillsTemplate(String answer) {
    return List.of("My Answer:", "My Conclusion:", "Future Outlook:").stream()
        .allMatch(answer::contains);
  }

  static boolean hasNoWhiteSpace(String answer) {
    return answer.codePoints().noneMatch(PythonText::isSpace);
  }
}
