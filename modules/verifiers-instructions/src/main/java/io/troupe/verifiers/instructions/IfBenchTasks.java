package io.troupe.verifiers.instructions;

import static io.troupe.base.text.PythonText.isBlank;
import static io.troupe.base.text.PythonText.lower;
import static io.troupe.base.text.PythonText.split;
import static io.troupe.base.text.PythonText.strip;
import static io.troupe.base.text.PythonText.withoutPunctuation;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.python.PythonCsv;
import io.troupe.verifiers.python.PythonPattern;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Conditions of IFBench that belong to one prompt each. */
final class IfBenchTasks {
  private static final PythonPattern NUMBER = PythonPattern.compile("\\d+");
  private static final PythonPattern QUESTION =
      PythonPattern.compile("\\n*(?:Question \\d+[\\.|\\):;]?\\s*)");
  private static final PythonPattern OPTION = PythonPattern.compile("\\A[A-Ea-e][\\.|\\)]\\s*\\w+");
  private static final PythonPattern PRODUCT_HEADER =
      PythonPattern.compile(
          "\\A(ProductID|\"ProductID\"),[ \\t]*(Category|\"Category\"),[ \\t]*(Brand|\"Brand\"),"
              + "[ \\t]*(Price|\"Price\"),[ \\t]*(Stock|\"Stock\")\\Z");
  private static final PythonPattern STUDENT_HEADER =
      PythonPattern.compile(
          "\\A(StudentID|\"StudentID\")\\t *(Subject|\"Subject\")\\t *(Grade|\"Grade\")\\t *"
              + "(Semester|\"Semester\")\\t *(Score|\"Score\")\\Z");
  private static final PythonPattern SPECIAL_CHARACTER =
      PythonPattern.compile("\\A\".*[^\\d\\w\\s].*\"");
  private static final PythonPattern DATE = PythonPattern.compile("\\A\\d{4}-\\d{2}-\\d{2}\\Z");

  private static final List<String> CAPITALS =
      split(
          """
          Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin
          Amsterdam Warsaw London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz
          Chisinau Bern Ljubljana Zagreb
          """);

  private IfBenchTasks() {}

  static boolean listsMultiples(String answer) {
    return NUMBER
        .findAll(answer.replace(",", ", "))
        .equals(List.of("14", "21", "28", "35", "42", "49"));
  }

  /**
   * Whether the answer has four questions with five options each, every question longer than the
   * one before.
   */
  static boolean asksQuestions(String answer) {
    if (!answer.startsWith("Question")) {
      return false;
    }
    List<String> questions =
        QUESTION.split(answer).stream().map(PythonText::strip).filter(q -> !q.isEmpty()).toList();
    if (questions.size() != 4) {
      return false;
    }
    int previous = -1;
    for (String question : questions) {
      List<String> lines = split(question, "\n").stream().map(PythonText::strip).toList();
      List<Boolean> options = lines.stream().map(OPTION::isFoundIn).toList();
      int first = options.indexOf(true);
      if (Collections.frequency(options, true) != 5) {
        return false;
      }
      int length = PythonText.length(strip(String.join(" ", lines.subList(0, first))));
      if (length <= previous) {
        return false;
      }
      previous = length;
    }
    return true;
  }

  /** From the line with Zimbabwe on, at least 52 lines in descending order. */
  static boolean listsAfricaBackwards(String answer) {
    List<String> lines =
        split(answer, "\n").stream()
            .map(IfBenchWords::bare)
            .filter(line -> !line.isEmpty())
            .dropWhile(line -> !line.contains("Zimbabwe"))
            .map(IfBenchTasks::ascii)
            .toList();
    List<String> sorted = new ArrayList<>(lines);
    sorted.sort(Comparator.reverseOrder());
    return lines.size() >= 52 && lines.equals(sorted);
  }

  /** Returns the text without accents, and without any other character that is not ASCII. */
  private static String ascii(String text) {
    StringBuilder kept = new StringBuilder();
    Normalizer.normalize(text, Normalizer.Form.NFKD)
        .codePoints()
        .filter(c -> c < 0x80)
        .forEach(kept::appendCodePoint);
    return kept.toString();
  }

  static boolean reversesWords(String answer) {
    List<String> words = split(withoutPunctuation(strip(lower(answer))));
    return String.join(" ", words.reversed()).contains("bald eagle");
  }

  static boolean reversesLetters(String answer) {
    return lower(answer).contains("elgae dlab");
  }

  static boolean listsCapitals(String answer) {
    return split(ascii(answer), ",").stream()
        .filter(part -> !isBlank(part))
        .map(PythonText::strip)
        .toList()
        .equals(CAPITALS);
  }

  static boolean isCityCsv(String answer) {
    Optional<List<List<String>>> rows = PythonCsv.rows(answer, ',');
    return rows.isPresent()
        && rows.get().size() == 8
        && rows.get().getFirst().equals(List.of("ID", "Country", "City", "Year", "Count"))
        && rows.get().stream().allMatch(row -> row.size() == 5);
  }

  /**
   * Fifteen rows of five; the first row with a quoted special character decides, as in the
   * reference.
   */
  static boolean isProductCsv(String answer) {
    if (!PRODUCT_HEADER.isFoundIn(strip(split(answer, "\n").getFirst()))) {
      return false;
    }
    Optional<List<List<String>>> rows = PythonCsv.rows(answer.replace("\"", "\"\"\""), ',');
    if (rows.isEmpty() || rows.get().size() != 15) {
      return false;
    }
    for (List<String> row : rows.get().subList(1, 15)) {
      if (row.size() != 5) {
        return false;
      }
      if (row.stream().anyMatch(SPECIAL_CHARACTER::isFoundIn)) {
        return true;
      }
    }
    return false;
  }

  static boolean isStudentCsv(String answer) {
    if (!STUDENT_HEADER.isFoundIn(strip(split(answer, "\n").getFirst()))) {
      return false;
    }
    Optional<List<List<String>>> rows = PythonCsv.rows(answer.replace("\"", "\"\"\""), '\t');
    return rows.isPresent()
        && rows.get().size() == 4
        && rows.get().stream()
            .allMatch(row -> row.size() == 5 && row.stream().allMatch(IfBenchTasks::isQuotedField));
  }

  private static boolean isQuotedField(String field) {
    String text = strip(field);
    return text.startsWith("\"") && text.endsWith("\"");
  }

  /** Dates from 1769 to 1821; month or day 00 passes, as in the reference. */
  static boolean listsDates(String answer) {
    return split(strip(answer), ",").stream().map(PythonText::strip).allMatch(IfBenchTasks::isDate);
  }

  private static boolean isDate(String text) {
    if (!DATE.isFoundIn(text)) {
      return false;
    }
    List<String> parts = split(text, "-");
    int year = Integer.parseInt(parts.get(0));
    int month = Integer.parseInt(parts.get(1));
    int day = Integer.parseInt(parts.get(2));
    int days =
        switch (month) {
          case 0 -> 99;
          case 2 -> 29;
          case 4, 6, 9, 11 -> 30;
          default -> 31;
        };
    return year >= 1769 && year <= 1821 && month <= 12 && day <= days;
  }
}
