package io.troupe.engine.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What {@code |} does. */
final class Filters {
  private Filters() {}

  static Value apply(String name, Value of, List<Value> a, Map<String, Value> named) {
    return switch (name) {
      case "length", "count" -> length(of);
      case "trim" -> new Value.Text(Methods.strip(of.text(), a, true, true));
      case "upper" -> new Value.Text(of.text().toUpperCase(Locale.ROOT));
      case "lower" -> new Value.Text(of.text().toLowerCase(Locale.ROOT));
      case "capitalize" -> new Value.Text(capitalized(of.text()));
      case "title" -> new Value.Text(title(of.text()));
      case "string" -> new Value.Text(of.text());
      case "safe" -> of;
      case "int" -> integer(of);
      case "float" -> new Value.Real(of.isNumber() ? of.number() : Double.parseDouble(of.text()));
      case "abs" -> of instanceof Value.Real(double x) ? new Value.Real(Math.abs(x)) : absolute(of);
      case "list" -> new Value.Seq(of.items());
      case "first" -> of.items().isEmpty() ? new Value.Undefined("first") : of.items().getFirst();
      case "last" -> of.items().isEmpty() ? new Value.Undefined("last") : of.items().getLast();
      case "reverse" -> reversed(of);
      case "join" -> join(of, a, named);
      case "default", "d" -> orDefault(of, a, named);
      case "replace" ->
          new Value.Text(of.text().replace(argument(name, a, 0), argument(name, a, 1)));
      case "items" ->
          of instanceof Value.Dict(var entries) ? new Value.Seq(Methods.items(entries)) : none(of);
      case "dictsort" ->
          of instanceof Value.Dict(var entries)
              ? new Value.Seq(Methods.items(new TreeMap<>(entries)))
              : none(of);
      case "tojson" -> new Value.Text(Json.text(of, a, named));
      case "indent" -> indent(of, a, named);
      case "map" -> map(of, a, named);
      case "select" -> choose(of, v -> tested(v, a, 0));
      case "reject" -> choose(of, v -> !tested(v, a, 0));
      case "selectattr" -> choose(of, v -> tested(member(v, argument(name, a, 0)), a, 1));
      case "rejectattr" -> choose(of, v -> !tested(member(v, argument(name, a, 0)), a, 1));
      case "sort" -> new Value.Seq(of.items().stream().sorted(Arithmetic::order).toList());
      case "unique" -> unique(of);
      case "sum" ->
          of.items().stream().reduce(new Value.Int(0), (x, y) -> Arithmetic.apply("+", x, y));
      default -> throw new TemplateException("there is no filter '%s'".formatted(name));
    };
  }

  private static Value length(Value of) {
    return new Value.Int(
        of instanceof Value.Text(String text)
            ? text.codePointCount(0, text.length())
            : of.items().size());
  }

  private static Value integer(Value of) {
    if (of.isNumber()) {
      return new Value.Int((long) of.number());
    }
    try {
      return new Value.Int(Long.parseLong(of.text().strip()));
    } catch (NumberFormatException notOne) {
      return new Value.Int(0); // Jinja's default
    }
  }

  private static Value absolute(Value of) {
    return new Value.Int(Math.abs(of.integer()));
  }

  private static Value reversed(Value of) {
    List<Value> items = of.items().reversed();
    return of instanceof Value.Text
        ? new Value.Text(items.stream().map(Value::text).collect(Collectors.joining()))
        : new Value.Seq(List.copyOf(items));
  }

  private static Value join(Value of, List<Value> a, Map<String, Value> named) {
    String separator = a.isEmpty() ? "" : a.getFirst().text();
    Value attribute = named.getOrDefault("attribute", Value.None.NONE);
    return new Value.Text(
        of.items().stream()
            .map(v -> attribute instanceof Value.None ? v : member(v, attribute.text()))
            .map(Value::text)
            .collect(Collectors.joining(separator)));
  }

  private static Value orDefault(Value of, List<Value> a, Map<String, Value> named) {
    Value other =
        a.isEmpty() ? named.getOrDefault("default_value", new Value.Text("")) : a.getFirst();
    boolean falsy =
        a.size() > 1 ? a.get(1).truth() : named.getOrDefault("boolean", Value.Bool.FALSE).truth();
    return of instanceof Value.Undefined || (falsy && !of.truth()) ? other : of;
  }

  private static Value indent(Value of, List<Value> a, Map<String, Value> named) {
    Value width = a.isEmpty() ? named.getOrDefault("width", new Value.Int(4)) : a.getFirst();
    boolean first =
        (a.size() > 1 ? a.get(1) : named.getOrDefault("first", Value.Bool.FALSE)).truth();
    boolean blank =
        (a.size() > 2 ? a.get(2) : named.getOrDefault("blank", Value.Bool.FALSE)).truth();
    String space =
        width instanceof Value.Text(String text) ? text : " ".repeat((int) width.integer());
    String[] lines = of.text().split("\n", -1);
    for (int i = first ? 0 : 1; i < lines.length; i++) {
      if (blank || !lines[i].isEmpty()) {
        lines[i] = space + lines[i];
      }
    }
    return new Value.Text(String.join("\n", lines));
  }

  private static Value map(Value of, List<Value> a, Map<String, Value> named) {
    List<Value> mapped = new ArrayList<>();
    Value attribute = named.getOrDefault("attribute", Value.None.NONE);
    for (Value value : of.items()) {
      if (attribute instanceof Value.None) {
        mapped.add(apply(argument("map", a, 0), value, a.subList(1, a.size()), Map.of()));
      } else {
        Value member = member(value, attribute.text());
        mapped.add(
            member instanceof Value.Undefined ? named.getOrDefault("default", member) : member);
      }
    }
    return new Value.Seq(mapped);
  }

  private static Value choose(Value of, Predicate<Value> test) {
    return new Value.Seq(of.items().stream().filter(test).toList());
  }

  private static boolean tested(Value value, List<Value> a, int from) {
    return a.size() <= from
        ? value.truth()
        : Tests.holds(a.get(from).text(), value, a.subList(from + 1, a.size()));
  }

  private static Value unique(Value of) {
    List<Value> seen = new ArrayList<>();
    for (Value value : of.items()) {
      if (seen.stream().noneMatch(value::same)) {
        seen.add(value);
      }
    }
    return new Value.Seq(seen);
  }

  private static Value member(Value of, String name) {
    Value value = of instanceof Value.Dict(var entries) ? entries.get(name) : null;
    return value == null ? new Value.Undefined(name) : value;
  }

  private static String argument(String filter, List<Value> a, int i) {
    if (a.size() <= i) {
      throw new TemplateException("the filter '%s' needs %d arguments".formatted(filter, i + 1));
    }
    return a.get(i).text();
  }

  private static Value none(Value of) {
    if (of instanceof Value.Undefined) {
      return new Value.Seq(List.of());
    }
    throw new TemplateException("%s has no items".formatted(of.repr()));
  }

  static String capitalized(String text) {
    return text.isEmpty()
        ? text
        : text.substring(0, 1).toUpperCase(Locale.ROOT)
            + text.substring(1).toLowerCase(Locale.ROOT);
  }

  static String title(String text) {
    StringBuilder title = new StringBuilder();
    boolean inside = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      title.append(inside ? Character.toLowerCase(c) : Character.toTitleCase(c));
      inside = Character.isLetter(c);
    }
    return title.toString();
  }
}
