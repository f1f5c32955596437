package io.troupe.chat.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** JSON as Python's {@code json.dumps} writes it, of a template's values not limited to ASCII. */
public final class PythonJson {
  private final String item;
  private final String colon;
  private final String indent;
  private final boolean sorted;

  private PythonJson(String item, String colon, String indent, boolean sorted) {
    this.item = item;
    this.colon = colon;
    this.indent = indent;
    this.sorted = sorted;
  }

  /** The filter {@code tojson} with its arguments indent, separators and sort_keys. */
  static String text(
      TemplateValue value, List<TemplateValue> positional, Map<String, TemplateValue> named) {
    TemplateValue given = named.getOrDefault("indent", TemplateValue.None.NONE);
    TemplateValue width = positional.isEmpty() ? given : positional.getFirst();
    String indent = width instanceof TemplateValue.None ? "" : " ".repeat((int) width.integer());
    String item = width instanceof TemplateValue.None ? ", " : ",";
    String colon = ": ";
    if (named.get("separators") instanceof TemplateValue.Seq(var two) && two.size() == 2) {
      item = two.get(0).text();
      colon = two.get(1).text();
    }
    boolean sorted = named.getOrDefault("sort_keys", TemplateValue.Bool.FALSE).truth();
    boolean lines = !(width instanceof TemplateValue.None);
    StringBuilder text = new StringBuilder();
    new PythonJson(item, colon, indent, sorted).write(value, text, lines ? 0 : -1);
    return text.toString();
  }

  /** {@code depth} is negative for JSON on one line. */
  private void write(TemplateValue value, StringBuilder text, int depth) {
    switch (value) {
      case TemplateValue.None _ -> text.append("null");
      case TemplateValue.Bool(boolean bool) -> text.append(bool);
      case TemplateValue.Int(long number) -> text.append(number);
      case TemplateValue.Real(double number) -> text.append(number);
      case TemplateValue.Text(String string) -> quote(string, false, text);
      case TemplateValue.Seq(var items) -> {
        List<Runnable> parts = new ArrayList<>();
        items.forEach(part -> parts.add(() -> write(part, text, depth < 0 ? depth : depth + 1)));
        group('[', ']', parts, text, depth);
      }
      case TemplateValue.Dict(var entries) -> {
        List<Runnable> parts = new ArrayList<>();
        Map<String, TemplateValue> ordered = sorted ? new TreeMap<>(entries) : entries;
        ordered.forEach(
            (key, part) ->
                parts.add(
                    () -> {
                      quote(key, false, text);
                      text.append(colon);
                      write(part, text, depth < 0 ? depth : depth + 1);
                    }));
        group('{', '}', parts, text, depth);
      }
      case TemplateValue.Undefined _, TemplateValue.Namespace _, TemplateValue.Callable _ ->
          throw new TemplateException("%s is no JSON".formatted(value.repr()));
    }
  }

  private void group(char open, char close, List<Runnable> parts, StringBuilder text, int depth) {
    text.append(open);
    for (int i = 0; i < parts.size(); i++) {
      text.append(i == 0 ? "" : item);
      newline(text, depth < 0 ? depth : depth + 1);
      parts.get(i).run();
    }
    if (!parts.isEmpty()) {
      newline(text, depth);
    }
    text.append(close);
  }

  private void newline(StringBuilder text, int depth) {
    if (depth >= 0) {
      text.append('\n').repeat(indent, depth);
    }
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
