package io.troupe.chat.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The filters that {@code |} applies. */
final class TemplateFilters {
  private TemplateFilters() {}

  static TemplateValue apply(
      String name, TemplateValue of, List<TemplateValue> a, Map<String, TemplateValue> named) {
    return switch (name) {
      case "length", "count" -> length(of);
      case "trim" -> new TemplateValue.Text(PythonMethods.strip(of.text(), a, true, true));
      case "upper" -> new TemplateValue.Text(of.text().toUpperCase(Locale.ROOT));
      case "lower" -> new TemplateValue.Text(of.text().toLowerCase(Locale.ROOT));
      case "capitalize" -> new TemplateValue.Text(capitalized(of.text()));
      case "title" -> new TemplateValue.Text(title(of.text()));
      case "string" -> new TemplateValue.Text(of.text());
      case "safe" -> of;
      case "int" -> integer(of);
      case "float" ->
          new TemplateValue.Real(of.isNumber() ? of.number() : Double.parseDouble(of.text()));
      case "abs" ->
          of instanceof TemplateValue.Real(double x)
              ? new TemplateValue.Real(Math.abs(x))
              : absolute(of);
      case "list" -> new TemplateValue.Seq(of.items());
      case "first" ->
          of.items().isEmpty() ? new TemplateValue.Undefined("first") : of.items().getFirst();
      case "last" ->
          of.items().isEmpty() ? new TemplateValue.Undefined("last") : of.items().getLast();
      case "reverse" -> reversed(of);
      case "join" -> join(of, a, named);
      case "default", "d" -> orDefault(of, a, named);
      case "replace" ->
          new TemplateValue.Text(of.text().replace(argument(name, a, 0), argument(name, a, 1)));
      case "items" ->
          of instanceof TemplateValue.Dict(var entries)
              ? new TemplateValue.Seq(PythonMethods.items(entries))
              : none(of);
      case "dictsort" ->
          of instanceof TemplateValue.Dict(var entries)
              ? new TemplateValue.Seq(PythonMethods.items(new TreeMap<>(entries)))
              : none(of);
      case "tojson" -> new TemplateValue.Text(PythonJson.text(of, a, named));
      case "indent" -> indent(of, a, named);
      case "map" -> map(of, a, named);
      case "select" -> choose(of, v -> tested(v, a, 0));
      case "reject" -> choose(of, v -> !tested(v, a, 0));
      case "selectattr" -> choose(of, v -> tested(member(v, argument(name, a, 0)), a, 1));
      case "rejectattr" -> choose(of, v -> !tested(member(v, argument(name, a, 0)), a, 1));
      case "sort" ->
          new TemplateValue.Seq(of.items().stream().sorted(PythonOperators::order).toList());
      case "unique" -> unique(of);
      case "sum" ->
          of.items().stream()
              .reduce(new TemplateValue.Int(0), (x, y) -> PythonOperators.apply("+", x, y));
      default -> throw new TemplateException("there is no filter '%s'".formatted(name));
    };
  }

  private static TemplateValue length(TemplateValue of) {
    return new TemplateValue.Int(
        of instanceof TemplateValue.Text(String text)
            ? text.codePointCount(0, text.length())
            : of.items().size());
  }

  private static TemplateValue integer(TemplateValue of) {
    if (of.isNumber()) {
      return new TemplateValue.Int((long) of.number());
    }
    try {
      return new TemplateValue.Int(Long.parseLong(of.text().strip()));
    } catch (NumberFormatException notOne) {
      return new TemplateValue.Int(0); // Jinja's default
    }
  }

  private static TemplateValue absolute(TemplateValue of) {
    return new TemplateValue.Int(Math.abs(of.integer()));
  }

  private static TemplateValue reversed(TemplateValue of) {
    List<TemplateValue> items = of.items().reversed();
    return of instanceof TemplateValue.Text
        ? new TemplateValue.Text(
            items.stream().map(TemplateValue::text).collect(Collectors.joining()))
        : new TemplateValue.Seq(List.copyOf(items));
  }

  private static TemplateValue join(
      TemplateValue of, List<TemplateValue> a, Map<String, TemplateValue> named) {
    String separator = a.isEmpty() ? "" : a.getFirst().text();
    TemplateValue attribute = named.getOrDefault("attribute", TemplateValue.None.NONE);
    return new TemplateValue.Text(
        of.items().stream()
            .map(v -> attribute instanceof TemplateValue.None ? v : member(v, attribute.text()))
            .map(TemplateValue::text)
            .collect(Collectors.joining(separator)));
  }

  private static TemplateValue orDefault(
      TemplateValue of, List<TemplateValue> a, Map<String, TemplateValue> named) {
    TemplateValue other =
        a.isEmpty()
            ? named.getOrDefault("default_value", new TemplateValue.Text(""))
            : a.getFirst();
    boolean falsy =
        a.size() > 1
            ? a.get(1).truth()
            : named.getOrDefault("boolean", TemplateValue.Bool.FALSE).truth();
    return of instanceof TemplateValue.Undefined || (falsy && !of.truth()) ? other : of;
  }

  private static TemplateValue indent(
      TemplateValue of, List<TemplateValue> a, Map<String, TemplateValue> named) {
    TemplateValue width =
        a.isEmpty() ? named.getOrDefault("width", new TemplateValue.Int(4)) : a.getFirst();
    boolean first =
        (a.size() > 1 ? a.get(1) : named.getOrDefault("first", TemplateValue.Bool.FALSE)).truth();
    boolean blank =
        (a.size() > 2 ? a.get(2) : named.getOrDefault("blank", TemplateValue.Bool.FALSE)).truth();
    String space =
        width instanceof TemplateValue.Text(String text) ? text : " ".repeat((int) width.integer());
    String[] lines = of.text().split("\n", -1);
    for (int i = first ? 0 : 1; i < lines.length; i++) {
      if (blank || !lines[i].isEmpty()) {
        lines[i] = space + lines[i];
      }
    }
    return new TemplateValue.Text(String.join("\n", lines));
  }

  private static TemplateValue map(
      TemplateValue of, List<TemplateValue> a, Map<String, TemplateValue> named) {
    List<TemplateValue> mapped = new ArrayList<>();
    TemplateValue attribute = named.getOrDefault("attribute", TemplateValue.None.NONE);
    for (TemplateValue value : of.items()) {
      if (attribute instanceof TemplateValue.None) {
        mapped.add(apply(argument("map", a, 0), value, a.subList(1, a.size()), Map.of()));
      } else {
        TemplateValue member = member(value, attribute.text());
        mapped.add(
            member instanceof TemplateValue.Undefined
                ? named.getOrDefault("default", member)
                : member);
      }
    }
    return new TemplateValue.Seq(mapped);
  }

  private static TemplateValue choose(TemplateValue of, Predicate<TemplateValue> test) {
    return new TemplateValue.Seq(of.items().stream().filter(test).toList());
  }

  private static boolean tested(TemplateValue value, List<TemplateValue> a, int from) {
    return a.size() <= from
        ? value.truth()
        : TemplateTests.holds(a.get(from).text(), value, a.subList(from + 1, a.size()));
  }

  private static TemplateValue unique(TemplateValue of) {
    List<TemplateValue> seen = new ArrayList<>();
    for (TemplateValue value : of.items()) {
      if (seen.stream().noneMatch(value::same)) {
        seen.add(value);
      }
    }
    return new TemplateValue.Seq(seen);
  }

  private static TemplateValue member(TemplateValue of, String name) {
    TemplateValue value = of instanceof TemplateValue.Dict(var entries) ? entries.get(name) : null;
    return value == null ? new TemplateValue.Undefined(name) : value;
  }

  private static String argument(String filter, List<TemplateValue> a, int i) {
    if (a.size() <= i) {
      throw new TemplateException("the filter '%s' needs %d arguments".formatted(filter, i + 1));
    }
    return a.get(i).text();
  }

  private static TemplateValue none(TemplateValue of) {
    if (of instanceof TemplateValue.Undefined) {
      return new TemplateValue.Seq(List.of());
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
