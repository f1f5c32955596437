package io.troupe.chat.python;

import io.troupe.base.text.PythonJson;
import io.troupe.base.text.PythonNumber;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** JSON as Python's {@code json.dumps} writes it. */
public final class PythonDumps {
  private final String item;
  private final String colon;
  private final String indent;
  private final boolean ascii;
  private final boolean sorted;

  private PythonDumps(String item, String colon, String indent, boolean ascii, boolean sorted) {
    this.item = item;
    this.colon = colon;
    this.indent = indent;
    this.ascii = ascii;
    this.sorted = sorted;
  }

  /** The filter {@code tojson} with ensure_ascii, indent, separators and sort_keys. */
  public static String text(TemplateValue value, CallArguments arguments) {
    boolean lines = arguments.some("indent").isPresent();
    String indent =
        switch (arguments.find("indent").orElse(TemplateValue.None.NONE)) {
          case TemplateValue.None _ -> "";
          case TemplateValue.Text(String text) -> text;
          case TemplateValue width -> " ".repeat(Math.max(0, width.width()));
        };
    List<String> separators =
        arguments
            .some("separators")
            .map(two -> two.items().stream().map(TemplateValue::string).toList())
            .orElse(List.of(lines ? "," : ", ", ": "));
    if (separators.size() != 2) {
      throw new TemplateException("'tojson' needs two separators");
    }
    PythonDumps dumps =
        new PythonDumps(
            separators.get(0),
            separators.get(1),
            indent,
            arguments.flag("ensure_ascii"),
            arguments.flag("sort_keys"));
    StringBuilder text = new StringBuilder();
    dumps.write(value, text, lines ? 0 : -1);
    return text.toString();
  }

  /** {@code depth} is negative for JSON on one line. */
  private void write(TemplateValue value, StringBuilder text, int depth) {
    switch (value) {
      case TemplateValue.None _ -> text.append("null");
      case TemplateValue.Bool(boolean bool) -> text.append(bool);
      case TemplateValue.Int(BigInteger number) -> text.append(number);
      case TemplateValue.Real(double number) -> text.append(PythonNumber.json(number));
      case TemplateValue.Text(String string) -> PythonJson.quote(string, ascii, text);
      case TemplateValue.Markup(String string) -> PythonJson.quote(string, ascii, text);
      case TemplateValue.Seq(var items) -> group('[', ']', values(items, text, depth), text, depth);
      case TemplateValue.Tuple(var items) ->
          group('[', ']', values(items, text, depth), text, depth);
      case TemplateValue.Dict(var entries) ->
          group('{', '}', entries(entries, text, depth), text, depth);
      default -> throw new TemplateException("%s is no JSON".formatted(value.shortened()));
    }
  }

  private List<Runnable> values(List<TemplateValue> items, StringBuilder text, int depth) {
    List<Runnable> parts = new ArrayList<>();
    items.forEach(part -> parts.add(() -> write(part, text, deeper(depth))));
    return parts;
  }

  private List<Runnable> entries(
      Map<TemplateValue, TemplateValue> entries, StringBuilder text, int depth) {
    List<Map.Entry<TemplateValue, TemplateValue>> ordered = new ArrayList<>(entries.entrySet());
    if (sorted) {
      Comparator<TemplateValue> byKey = (a, b) -> PythonOperators.order(a, b).orElse(0);
      ordered.sort(Map.Entry.comparingByKey(byKey));
    }
    List<Runnable> parts = new ArrayList<>();
    ordered.forEach(
        entry ->
            parts.add(
                () -> {
                  PythonJson.quote(key(entry.getKey()), ascii, text);
                  text.append(colon);
                  write(entry.getValue(), text, deeper(depth));
                }));
    return parts;
  }

  private static String key(TemplateValue key) {
    return switch (key) {
      case TemplateValue.Text(String string) -> string;
      case TemplateValue.None _ -> "null";
      case TemplateValue.Bool(boolean bool) -> Boolean.toString(bool);
      case TemplateValue.Int(BigInteger number) -> number.toString();
      case TemplateValue.Real(double number) -> PythonNumber.json(number);
      default -> throw new TemplateException("%s is no key of JSON".formatted(key.shortened()));
    };
  }

  private static int deeper(int depth) {
    return depth < 0 ? depth : depth + 1;
  }

  private void group(char open, char close, List<Runnable> parts, StringBuilder text, int depth) {
    text.append(open);
    for (int i = 0; i < parts.size(); i++) {
      text.append(i == 0 ? "" : item);
      newline(text, deeper(depth));
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
}
