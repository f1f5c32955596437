package io.troupe.core.prompt;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The marks by which a model's thought begins and ends, in the spellings of published chat
 * templates.
 *
 * <p>A mark directly behind an opening quotation mark or backtick that is closed on the same line,
 * or directly before the closing one, such as in {@code r"<think>.*?</think>"}, is a mention and
 * marks nothing.
 */
public enum ThoughtMarks {
  /** DeepSeek-R1, Qwen3, GLM 4.5, Nemotron 3 and most others. */
  THINK("<think>", "</think>"),
  /** Kimi. */
  KIMI("◁think▷", "◁/think▷"),
  /** Seed-OSS. */
  SEED("<seed:think>", "</seed:think>"),
  /** EXAONE Deep. */
  THOUGHT("<thought>", "</thought>"),
  /** Magistral. */
  MAGISTRAL("[THINK]", "[/THINK]"),
  /** Command A Reasoning. */
  COMMAND("<|START_THINKING|>", "<|END_THINKING|>"),
  /** Gemma 4. */
  GEMMA("<|channel>thought", "<channel|>"),
  /** gpt-oss: its last channel holds the answer. */
  HARMONY("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
  /** gpt-oss, where the message with the answer begins with its role. */
  HARMONY_MESSAGE("<|channel|>analysis<|message|>", "assistant<|channel|>final<|message|>");

  private static final String QUOTES = "'\"`";

  /** Letters that a program's string may begin with. */
  private static final String PREFIXES = "rbfuRBFU";

  private final String opens;
  private final String closes;

  ThoughtMarks(String opens, String closes) {
    this.opens = opens;
    this.closes = closes;
  }

  /** Returns the text that begins a thought. */
  public String opens() {
    return opens;
  }

  /** Returns the text that ends a thought. */
  public String closes() {
    return closes;
  }

  /**
   * Returns those of a vocabulary's special tokens that marks are made of. A text without them says
   * no longer where its thoughts are.
   *
   * @param special all special tokens, spelled out
   */
  public static Set<String> partsAmong(Set<String> special) {
    return Arrays.stream(values())
        .flatMap(marks -> Stream.of(marks.opens, marks.closes))
        .filter(mark -> special.stream().anyMatch(mark::startsWith))
        .flatMap(mark -> special.stream().filter(mark::contains))
        .collect(Collectors.toSet());
  }

  /** Index behind the last end of a thought in the text, 0 if there is none. */
  public static int behindLastEnd(String text) {
    int behind = 0;
    for (ThoughtMarks marks : values()) {
      int at = last(text, marks.closes);
      behind = at < 0 ? behind : Math.max(behind, at + marks.closes.length());
    }
    return behind;
  }

  /**
   * Index behind an end of a thought that the text begins with, blanks aside; 0 if there is none.
   */
  public static int behindLeadingEnd(String text) {
    String lead = text.stripLeading();
    int behind = 0;
    for (ThoughtMarks marks : values()) {
      if (lead.startsWith(marks.closes)) {
        behind = text.length() - lead.length() + marks.closes.length();
      }
    }
    return behind;
  }

  /** Index of the first beginning of a thought in the text, -1 if there is none. */
  public static int firstBeginning(String text) {
    int beginning = -1;
    for (ThoughtMarks marks : values()) {
      int at = text.indexOf(marks.opens);
      while (at >= 0 && isMention(text, at, at + marks.opens.length())) {
        at = text.indexOf(marks.opens, at + 1);
      }
      beginning = at >= 0 && (beginning < 0 || at < beginning) ? at : beginning;
    }
    return beginning;
  }

  /** Index of the last beginning of a thought in the text, -1 if there is none. */
  public static int lastBeginning(String text) {
    int beginning = -1;
    for (ThoughtMarks marks : values()) {
      beginning = Math.max(beginning, last(text, marks.opens));
    }
    return beginning;
  }

  /** Returns the text behind the last beginning of a thought. */
  static String behindLastBeginning(String text) {
    int beginning = lastBeginning(text);
    int behind = beginning;
    for (ThoughtMarks marks : values()) {
      if (text.startsWith(marks.opens, beginning)) {
        behind = Math.max(behind, beginning + marks.opens.length());
      }
    }
    return text.substring(behind);
  }

  private static int last(String text, String mark) {
    int at = text.lastIndexOf(mark);
    while (at >= 0 && isMention(text, at, at + mark.length())) {
      at = text.lastIndexOf(mark, at - 1);
    }
    return at;
  }

  private static boolean isMention(String text, int start, int end) {
    int lineEnd = text.indexOf('\n', end);
    String rest = text.substring(end, lineEnd < 0 ? text.length() : lineEnd);
    boolean behindQuote =
        start > 0
            && QUOTES.indexOf(text.charAt(start - 1)) >= 0
            && opens(text, start - 1)
            && rest.indexOf(text.charAt(start - 1)) >= 0;
    if (behindQuote || rest.isEmpty() || QUOTES.indexOf(rest.charAt(0)) < 0) {
      return behindQuote;
    }
    char quote = rest.charAt(0);
    boolean fence = rest.length() > 1 && rest.charAt(1) == quote;
    int before = text.lastIndexOf(quote, start - 1);
    return !fence && before > text.lastIndexOf('\n', start - 1) && opens(text, before);
  }

  /**
   * Whether a quotation mark begins a quotation: it is not behind a word, a string's prefix aside,
   * and not one of several, which are a fence around a block.
   */
  private static boolean opens(String text, int quote) {
    if (quote == 0) {
      return true;
    }
    char before = text.charAt(quote - 1);
    boolean prefix =
        PREFIXES.indexOf(before) >= 0
            && (quote == 1 || !Character.isLetterOrDigit(text.charAt(quote - 2)));
    return before != text.charAt(quote) && (prefix || !Character.isLetterOrDigit(before));
  }
}
