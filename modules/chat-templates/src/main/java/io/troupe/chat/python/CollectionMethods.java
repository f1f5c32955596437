package io.troupe.chat.python;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Attributes of Python's dictionaries, lists, tuples and other values that are no strings. */
final class CollectionMethods {
  /** Methods that change a list or a dictionary, which the sandbox hides. */
  private static final Set<String> CHANGES_DICT =
      Set.of("clear", "pop", "popitem", "setdefault", "update");

  /** Attributes that Python has and that are not offered here. */
  private static final Set<String> OF_NUMBERS =
      Set.of(
          "as_integer_ratio",
          "bit_count",
          "bit_length",
          "conjugate",
          "denominator",
          "from_bytes",
          "fromhex",
          "hex",
          "imag",
          "is_integer",
          "numerator",
          "real",
          "to_bytes");

  private static final Set<String> OF_VIEWS =
      Set.of("count", "index", "isdisjoint", "mapping", "start", "step", "stop");
  private static final Set<String> OF_GENERATORS = Set.of("close", "send", "throw");

  private CollectionMethods() {}

  static Optional<TemplateValue> of(TemplateValue value, String name) {
    return switch (value) {
      case TemplateValue.Dict dict -> ofDict(dict, name);
      case TemplateValue.Seq(var items) ->
          name.equals("copy")
              ? method(name, "", _ -> new TemplateValue.Seq(items))
              : ofList(items, name);
      case TemplateValue.Tuple(var items) -> ofList(items, name);
      case TemplateValue.Int _, TemplateValue.Bool _, TemplateValue.Real _ ->
          refused(OF_NUMBERS, "a number", name);
      case TemplateValue.View(String type, _, _) -> refused(OF_VIEWS, type, name);
      case TemplateValue.Stream _ -> refused(OF_GENERATORS, "a generator", name);
      case TemplateValue.Callable(String function, _) ->
          throw new TemplateException(
              "the function '%s' has no '%s' here".formatted(function, name));
      default -> Optional.empty();
    };
  }

  private static Optional<TemplateValue> refused(Set<String> names, String what, String name) {
    if (names.contains(name)) {
      throw new TemplateException("'%s' of %s is not supported".formatted(name, what));
    }
    return Optional.empty();
  }

  private interface Body {
    TemplateValue call(CallArguments arguments);
  }

  private static Optional<TemplateValue> method(String name, String parameters, Body body) {
    return Optional.of(
        new TemplateValue.Callable(
            name,
            (positional, named) ->
                body.call(CallArguments.of(name, parameters, positional, named))));
  }

  private static Optional<TemplateValue> ofDict(TemplateValue.Dict dict, String name) {
    return switch (name) {
      case "items" ->
          method(name, "", _ -> TemplateValue.View.of("dict_items", pairs(dict.entries())));
      case "keys" -> method(name, "", _ -> TemplateValue.View.of("dict_keys", dict.items()));
      case "values" ->
          method(
              name,
              "",
              _ -> TemplateValue.View.of("dict_values", List.copyOf(dict.entries().values())));
      case "copy" -> method(name, "", _ -> dict);
      case "get" ->
          method(
              name,
              "key default? /",
              a -> {
                PythonOperators.hashable(a.get("key"));
                TemplateValue value = dict.get(a.get("key"));
                return value != null ? value : a.find("default").orElse(TemplateValue.None.NONE);
              });
      case "fromkeys" -> refused(Set.of(name), "a dictionary", name);
      default ->
          CHANGES_DICT.contains(name)
              ? Optional.of(new TemplateValue.Undefined(name))
              : Optional.empty();
    };
  }

  private static Optional<TemplateValue> ofList(List<TemplateValue> items, String name) {
    return switch (name) {
      case "count" ->
          method(
              name,
              "value /",
              a ->
                  TemplateValue.Int.of(
                      items.stream()
                          .filter(each -> PythonOperators.same(each, a.get("value")))
                          .count()));
      case "index" -> method(name, "value start? stop? /", a -> index(items, a));
      default -> Optional.empty();
    };
  }

  private static TemplateValue index(List<TemplateValue> items, CallArguments a) {
    int size = items.size();
    int from = PythonAccess.clamped(a.find("start").orElse(TemplateValue.Int.of(0)), 0, size);
    int to = PythonAccess.clamped(a.find("stop").orElse(TemplateValue.Int.of(size)), size, size);
    for (int i = from; i < to; i++) {
      if (PythonOperators.same(items.get(i), a.get("value"))) {
        return TemplateValue.Int.of(i);
      }
    }
    throw new TemplateException("%s is not in the list".formatted(a.get("value").shortened()));
  }

  /** The entries of a dictionary as pairs. */
  static List<TemplateValue> pairs(Map<TemplateValue, TemplateValue> entries) {
    return entries.entrySet().stream()
        .map(entry -> (TemplateValue) TemplateValue.Tuple.of(entry.getKey(), entry.getValue()))
        .toList();
  }
}
