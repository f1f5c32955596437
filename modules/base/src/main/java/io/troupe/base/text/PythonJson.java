package io.troupe.base.text;

import java.util.Locale;

/** Strings in JSON of Python's {@code json.dumps}. */
public final class PythonJson {
  private PythonJson() {}

  /** A string in quotes that keeps characters beyond ASCII, as with {@code ensure_ascii=False}. */
  public static String quoted(String string) {
    StringBuilder text = new StringBuilder();
    quote(string, false, text);
    return text.toString();
  }

  /**
   * Appends a string in quotes.
   *
   * @param ascii whether characters beyond printable ASCII are escaped, as Python does by default
   */
  public static void quote(String string, boolean ascii, StringBuilder text) {
    text.append('"');
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      switch (c) {
        case '"' -> text.append("\\\"");
        case '\\' -> text.append("\\\\");
        case '\n' -> text.append("\\n");
        case '\r' -> text.append("\\r");
        case '\t' -> text.append("\\t");
        case '\b' -> text.append("\\b");
        case '\f' -> text.append("\\f");
        default -> {
          if (c < ' ' || (ascii && c > '~')) {
            text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
          } else {
            text.append(c);
          }
        }
      }
    }
    text.append('"');
  }
}
