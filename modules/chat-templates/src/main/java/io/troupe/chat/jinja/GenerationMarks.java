package io.troupe.chat.jinja;

import java.util.List;

/**
 * The marks around what a template says that the model writes, by {@code {% generation %}}. They
 * are characters that Unicode assigns to nothing.
 */
public final class GenerationMarks {
  /** Variable of a rendering with marks; no template can have one of this name. */
  public static final String ARGUMENT = "{% generation %}";

  private static final char BEGIN = '\uFDD1';
  private static final char END = '\uFDD2';

  private GenerationMarks() {}

  static String around(String text) {
    return BEGIN + text + END;
  }

  /** Whether a text has marks. */
  public static boolean in(String text) {
    return text.indexOf(BEGIN) >= 0 || text.indexOf(END) >= 0;
  }

  /**
   * Returns the parts of a rendering with marks: in turn what others write and what the model does,
   * and what others write behind that.
   */
  public static List<String> split(String marked) {
    String joined = marked.replace("" + BEGIN + END, "").replace("" + END + BEGIN, "");
    return List.of(joined.split("[%c%c]".formatted(BEGIN, END), -1));
  }
}
