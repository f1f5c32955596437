package io.troupe.chat.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The methods of Python's strings, dictionaries and lists that templates call. */
final class PythonMethods {
  private PythonMethods() {}

  static Optional<TemplateValue> of(TemplateValue value, String name) {
    return switch (value) {
      case TemplateValue.Text(String text) -> ofText(text, name);
      case TemplateValue.Dict(Map<String, TemplateValue> entries) -> ofDict(entries, name);
      case TemplateValue.Seq(List<TemplateValue> items) -> ofList(items, name);
      default -> Optional.empty();
    };
  }

  private static Optional<TemplateValue> method(String name, TemplateValue.Callable.Body body) {
    return Optional.of(new TemplateValue.Callable(name, body));
  }

  private static Optional<TemplateValue> ofText(String text, String name) {
    return switch (name) {
      case "strip" -> method(name, (a, _) -> new TemplateValue.Text(strip(text, a, true, true)));
      case "lstrip" -> method(name, (a, _) -> new TemplateValue.Text(strip(text, a, true, false)));
      case "rstrip" -> method(name, (a, _) -> new TemplateValue.Text(strip(text, a, false, true)));
      case "upper" -> method(name, (_, _) -> new TemplateValue.Text(text.toUpperCase(Locale.ROOT)));
      case "lower" -> method(name, (_, _) -> new TemplateValue.Text(text.toLowerCase(Locale.ROOT)));
      case "title" -> method(name, (_, _) -> new TemplateValue.Text(TemplateFilters.title(text)));
      case "capitalize" ->
          method(name, (_, _) -> new TemplateValue.Text(TemplateFilters.capitalized(text)));
      case "split" -> method(name, (a, _) -> new TemplateValue.Seq(split(text, a)));
      case "splitlines" -> method(name, (_, _) -> TemplateValue.of((Object) text.lines().toList()));
      case "startswith" -> method(name, (a, _) -> TemplateValue.of(any(a, text::startsWith)));
      case "endswith" -> method(name, (a, _) -> TemplateValue.of(any(a, text::endsWith)));
      case "find" ->
          method(name, (a, _) -> new TemplateValue.Int(text.indexOf(first(name, a).text())));
      case "count" ->
          method(name, (a, _) -> new TemplateValue.Int(count(text, first(name, a).text())));
      case "isdigit" ->
          method(
              name,
              (_, _) ->
                  TemplateValue.of(!text.isEmpty() && text.chars().allMatch(Character::isDigit)));
      case "replace" ->
          method(
              name,
              (a, _) ->
                  new TemplateValue.Text(
                      text.replace(first(name, a).text(), second(name, a).text())));
      case "join" ->
          method(
              name,
              (a, _) ->
                  new TemplateValue.Text(
                      String.join(
                          text,
                          first(name, a).items().stream().map(TemplateValue::text).toList())));
      default -> Optional.empty();
    };
  }

  private static Optional<TemplateValue> ofDict(Map<String, TemplateValue> entries, String name) {
    return switch (name) {
      case "items" -> method(name, (_, _) -> new TemplateValue.Seq(items(entries)));
      case "keys" ->
          method(name, (_, _) -> new TemplateValue.Seq(new TemplateValue.Dict(entries).items()));
      case "values" -> method(name, (_, _) -> new TemplateValue.Seq(List.copyOf(entries.values())));
      case "get" ->
          method(
              name,
              (a, _) -> {
                TemplateValue value = entries.get(first(name, a).text());
                return value != null ? value : a.size() > 1 ? a.get(1) : TemplateValue.None.NONE;
              });
      default -> Optional.empty();
    };
  }

  private static Optional<TemplateValue> ofList(List<TemplateValue> items, String name) {
    return switch (name) {
      case "count" ->
          method(
              name,
              (a, _) -> new TemplateValue.Int(items.stream().filter(first(name, a)::same).count()));
      case "index" ->
          method(
              name,
              (a, _) -> {
                for (int i = 0; i < items.size(); i++) {
                  if (items.get(i).same(first(name, a))) {
                    return new TemplateValue.Int(i);
                  }
                }
                throw new TemplateException(
                    "%s is not in the list".formatted(first(name, a).repr()));
              });
      default -> Optional.empty();
    };
  }

  static List<TemplateValue> items(Map<String, TemplateValue> entries) {
    List<TemplateValue> pairs = new ArrayList<>();
    entries.forEach(
        (key, value) ->
            pairs.add(new TemplateValue.Seq(List.of(new TemplateValue.Text(key), value))));
    return pairs;
  }

  /** Python's strip: removes white space, or the characters of the argument if there is one. */
  static String strip(String text, List<TemplateValue> arguments, boolean left, boolean right) {
    boolean given = !arguments.isEmpty() && !(arguments.getFirst() instanceof TemplateValue.None);
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

  private static List<TemplateValue> split(String text, List<TemplateValue> arguments) {
    List<TemplateValue> parts = new ArrayList<>();
    if (arguments.isEmpty() || arguments.getFirst() instanceof TemplateValue.None) {
      for (String part : text.strip().split("\\s+", -1)) {
        if (!part.isEmpty()) {
          parts.add(new TemplateValue.Text(part));
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
      parts.add(new TemplateValue.Text(text.substring(from, at)));
      from = at + separator.length();
      at = text.indexOf(separator, from);
    }
    parts.add(new TemplateValue.Text(text.substring(from)));
    return parts;
  }

  private static boolean any(
      List<TemplateValue> arguments, java.util.function.Predicate<String> test) {
    TemplateValue given = first("startswith", arguments);
    return given instanceof TemplateValue.Seq(var options)
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

  private static TemplateValue first(String name, List<TemplateValue> arguments) {
    if (arguments.isEmpty()) {
      throw new TemplateException("'%s' needs an argument".formatted(name));
    }
    return arguments.getFirst();
  }

  private static TemplateValue second(String name, List<TemplateValue> arguments) {
    if (arguments.size() < 2) {
      throw new TemplateException("'%s' needs two arguments".formatted(name));
    }
    return arguments.get(1);
  }
}
