package io.troupe.engine.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Methods of Python's strings, dictionaries and lists, as far as templates call them. */
final class Methods {
  private Methods() {}

  static Optional<Value> of(Value value, String name) {
    return switch (value) {
      case Value.Text(String text) -> ofText(text, name);
      case Value.Dict(Map<String, Value> entries) -> ofDict(entries, name);
      case Value.Seq(List<Value> items) -> ofList(items, name);
      default -> Optional.empty();
    };
  }

  private static Optional<Value> method(String name, Value.Callable.Body body) {
    return Optional.of(new Value.Callable(name, body));
  }

  private static Optional<Value> ofText(String text, String name) {
    return switch (name) {
      case "strip" -> method(name, (a, _) -> new Value.Text(strip(text, a, true, true)));
      case "lstrip" -> method(name, (a, _) -> new Value.Text(strip(text, a, true, false)));
      case "rstrip" -> method(name, (a, _) -> new Value.Text(strip(text, a, false, true)));
      case "upper" -> method(name, (_, _) -> new Value.Text(text.toUpperCase(Locale.ROOT)));
      case "lower" -> method(name, (_, _) -> new Value.Text(text.toLowerCase(Locale.ROOT)));
      case "title" -> method(name, (_, _) -> new Value.Text(Filters.title(text)));
      case "capitalize" -> method(name, (_, _) -> new Value.Text(Filters.capitalized(text)));
      case "split" -> method(name, (a, _) -> new Value.Seq(split(text, a)));
      case "splitlines" -> method(name, (_, _) -> Value.of((Object) text.lines().toList()));
      case "startswith" -> method(name, (a, _) -> Value.of(any(a, text::startsWith)));
      case "endswith" -> method(name, (a, _) -> Value.of(any(a, text::endsWith)));
      case "find" -> method(name, (a, _) -> new Value.Int(text.indexOf(first(name, a).text())));
      case "count" -> method(name, (a, _) -> new Value.Int(count(text, first(name, a).text())));
      case "isdigit" ->
          method(
              name,
              (_, _) -> Value.of(!text.isEmpty() && text.chars().allMatch(Character::isDigit)));
      case "replace" ->
          method(
              name,
              (a, _) ->
                  new Value.Text(text.replace(first(name, a).text(), second(name, a).text())));
      case "join" ->
          method(
              name,
              (a, _) ->
                  new Value.Text(
                      String.join(
                          text, first(name, a).items().stream().map(Value::text).toList())));
      default -> Optional.empty();
    };
  }

  private static Optional<Value> ofDict(Map<String, Value> entries, String name) {
    return switch (name) {
      case "items" -> method(name, (_, _) -> new Value.Seq(items(entries)));
      case "keys" -> method(name, (_, _) -> new Value.Seq(new Value.Dict(entries).items()));
      case "values" -> method(name, (_, _) -> new Value.Seq(List.copyOf(entries.values())));
      case "get" ->
          method(
              name,
              (a, _) -> {
                Value value = entries.get(first(name, a).text());
                return value != null ? value : a.size() > 1 ? a.get(1) : Value.None.NONE;
              });
      default -> Optional.empty();
    };
  }

  private static Optional<Value> ofList(List<Value> items, String name) {
    return switch (name) {
      case "count" ->
          method(
              name, (a, _) -> new Value.Int(items.stream().filter(first(name, a)::same).count()));
      case "index" ->
          method(
              name,
              (a, _) -> {
                for (int i = 0; i < items.size(); i++) {
                  if (items.get(i).same(first(name, a))) {
                    return new Value.Int(i);
                  }
                }
                throw new TemplateException(
                    "%s is not in the list".formatted(first(name, a).repr()));
              });
      default -> Optional.empty();
    };
  }

  static List<Value> items(Map<String, Value> entries) {
    List<Value> pairs = new ArrayList<>();
    entries.forEach((key, value) -> pairs.add(new Value.Seq(List.of(new Value.Text(key), value))));
    return pairs;
  }

  /** Python's strip: without an argument white space, with one any of its characters. */
  static String strip(String text, List<Value> arguments, boolean left, boolean right) {
    boolean given = !arguments.isEmpty() && !(arguments.getFirst() instanceof Value.None);
    String set = given ? arguments.getFirst().text() : "";
    int from = 0;
    int to = text.length();
    while (left && from < to && strips(given, set, text.charAt(from))) {
      from++;
    }
    while (right && to > from && strips(given, set, text.charAt(to - 1))) {
      to--;
    }
    return text.substring(from, to);
  }

  private static boolean strips(boolean given, String set, char c) {
    return given ? set.indexOf(c) >= 0 : Character.isWhitespace(c) || c == '\u00a0';
  }

  private static List<Value> split(String text, List<Value> arguments) {
    List<Value> parts = new ArrayList<>();
    if (arguments.isEmpty() || arguments.getFirst() instanceof Value.None) {
      for (String part : text.strip().split("\\s+", -1)) {
        if (!part.isEmpty()) {
          parts.add(new Value.Text(part));
        }
      }
      return parts;
    }
    String separator = arguments.getFirst().text();
    if (separator.isEmpty()) {
      throw new TemplateException("split needs a separator");
    }
    long most = arguments.size() > 1 ? arguments.get(1).integer() : -1;
    int from = 0;
    int at = text.indexOf(separator);
    while (at >= 0 && (most < 0 || parts.size() < most)) {
      parts.add(new Value.Text(text.substring(from, at)));
      from = at + separator.length();
      at = text.indexOf(separator, from);
    }
    parts.add(new Value.Text(text.substring(from)));
    return parts;
  }

  private static boolean any(List<Value> arguments, java.util.function.Predicate<String> test) {
    Value given = first("startswith", arguments);
    return given instanceof Value.Seq(var options)
        ? options.stream().anyMatch(option -> test.test(option.text()))
        : test.test(given.text());
  }

  private static long count(String text, String part) {
    long count = 0;
    for (int at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length())) {
      count++;
    }
    return count;
  }

  private static Value first(String name, List<Value> arguments) {
    if (arguments.isEmpty()) {
      throw new TemplateException("'%s' needs an argument".formatted(name));
    }
    return arguments.getFirst();
  }

  private static Value second(String name, List<Value> arguments) {
    if (arguments.size() < 2) {
      throw new TemplateException("'%s' needs two arguments".formatted(name));
    }
    return arguments.get(1);
  }
}
