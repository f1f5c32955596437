package io.troupe.verifiers.language;

import io.troupe.base.text.PythonText;
import java.util.ArrayList;
import java.util.List;

/** A word with its period, as the sentence splitter reads it, and what it thinks of the period. */
final class PunktToken {
  private static final String NUMBER = "##number##";

  private final String text;
  private final String type;
  private boolean endsSentence;
  private boolean abbreviation;

  private PunktToken(String text) {
    this.text = text;
    String lower = PythonText.lower(text);
    this.type = isNumber(lower) ? NUMBER : lower;
  }

  /** The tokens of a text, line by line. */
  static List<PunktToken> tokens(String text) {
    List<PunktToken> tokens = new ArrayList<>();
    for (String line : PythonText.split(text, "\n")) {
      int i = 0;
      while (i < line.length()) {
        int end = PythonText.isSpace(line.codePointAt(i)) ? i : tokenEnd(line, i);
        if (end > i) {
          tokens.add(new PunktToken(line.substring(i, end)));
        }
        i = end > i ? end : i + Character.charCount(line.codePointAt(i));
      }
    }
    return tokens;
  }

  String text() {
    return text;
  }

  boolean endsSentence() {
    return endsSentence;
  }

  boolean isAbbreviation() {
    return abbreviation;
  }

  void endSentence() {
    endsSentence = true;
  }

  void abbreviate() {
    abbreviation = true;
  }

  void abbreviateWithinSentence() {
    abbreviation = true;
    endsSentence = false;
  }

  boolean endsInPeriod() {
    return text.endsWith(".");
  }

  boolean isEllipsis() {
    return text.length() > 1 && text.chars().allMatch(c -> c == '.');
  }

  boolean isInitial() {
    int first = text.codePointAt(0);
    int length = Character.charCount(first);
    return text.length() == length + 1
        && text.endsWith(".")
        && PythonText.isWord(first)
        && !PythonText.isDecimal(first);
  }

  boolean isOrdinal() {
    return typeWithoutPeriod().equals(NUMBER);
  }

  boolean startsUpper() {
    return Character.isUpperCase(text.codePointAt(0));
  }

  boolean startsLower() {
    return Character.isLowerCase(text.codePointAt(0));
  }

  String typeWithoutPeriod() {
    return type.length() > 1 && type.endsWith(".") ? type.substring(0, type.length() - 1) : type;
  }

  /** The type, less a period that was found to end the sentence. */
  String typeInSentence() {
    return endsSentence ? typeWithoutPeriod() : type;
  }

  /** {@code ^-?[\.,]?\d[\d,\.-]*\.?$}. */
  private static boolean isNumber(String lower) {
    int i = lower.startsWith("-") ? 1 : 0;
    if (i < lower.length() && (lower.charAt(i) == '.' || lower.charAt(i) == ',')) {
      i++;
    }
    return i < lower.length()
        && PythonText.isDecimal(lower.codePointAt(i))
        && lower
            .substring(i)
            .codePoints()
            .allMatch(c -> PythonText.isDecimal(c) || c == ',' || c == '.' || c == '-');
  }

  private static int tokenEnd(String line, int i) {
    int run = punctuationRunEnd(line, i);
    if (run > i) {
      return run;
    }
    int end = i + Character.charCount(line.codePointAt(i));
    if ("(\"`{[:;&#*@)}]-,".indexOf(line.charAt(i)) >= 0) {
      return end;
    }
    while (!endsAt(line, end)) {
      end += Character.charCount(line.codePointAt(end));
    }
    return end;
  }

  private static boolean endsAt(String line, int i) {
    if (endsBefore(line, i)) {
      return true;
    }
    return line.charAt(i) == ',' && endsBefore(line, i + 1);
  }

  private static boolean endsBefore(String line, int i) {
    return i == line.length()
        || PythonText.isSpace(line.codePointAt(i))
        || isOutsideWords(line.charAt(i))
        || startsPunctuationRun(line, i);
  }

  static boolean isOutsideWords(char c) {
    return ")\";}]*:@'({[?!".indexOf(c) >= 0;
  }

  /** Two or more hyphens or periods, or three or more periods with one space between. */
  private static int punctuationRunEnd(String line, int i) {
    if (!startsPunctuationRun(line, i)) {
      return i;
    }
    char c = line.charAt(i);
    int end = i;
    if (line.charAt(i + 1) == c) {
      while (end < line.length() && line.charAt(end) == c) {
        end++;
      }
      return end;
    }
    while (isSpacedPeriod(line, end)) {
      end += 2;
    }
    // The last period of the run is alone.
    return end < line.length() && line.charAt(end) == '.' ? end + 1 : end - 1;
  }

  private static boolean startsPunctuationRun(String line, int i) {
    if (i + 1 >= line.length() || (line.charAt(i) != '-' && line.charAt(i) != '.')) {
      return false;
    }
    return line.charAt(i + 1) == line.charAt(i)
        || (isSpacedPeriod(line, i)
            && isSpacedPeriod(line, i + 2)
            && i + 4 < line.length()
            && line.charAt(i + 4) == '.');
  }

  private static boolean isSpacedPeriod(String line, int i) {
    return i + 1 < line.length() && line.charAt(i) == '.' && PythonText.isSpace(line.charAt(i + 1));
  }
}
