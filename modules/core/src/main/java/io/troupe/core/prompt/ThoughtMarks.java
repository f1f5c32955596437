package io.troupe.core.prompt;

/**
 * The marks by which a model's thought begins and ends, in the spellings of published chat
 * templates.
 *
 * <p>A mark between two equal quotation marks or backticks, such as {@code '</think>'} in a
 * program, is a mention of it and marks nothing.
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
  HARMONY("<|channel|>analysis", "<|channel|>final<|message|>");

  private static final String QUOTES = "'\"`";

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

  /** Index behind the last end of a thought in the text, 0 if there is none. */
  public static int behindLastEnd(String text) {
    int behind = 0;
    for (ThoughtMarks marks : values()) {
      int at = last(text, marks.closes);
      behind = at < 0 ? behind : Math.max(behind, at + marks.closes.length());
    }
    return behind;
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
    if (start == 0 || end == text.length() || QUOTES.indexOf(text.charAt(end)) < 0) {
      return false;
    }
    char quote = text.charAt(end);
    // Two or more in a row are a fence around a block, which may begin directly behind a mark.
    return text.charAt(start - 1) == quote && (start == 1 || text.charAt(start - 2) != quote);
  }
}
