package io.troupe.chat.jinja;

import io.troupe.chat.python.CallArguments;
import io.troupe.chat.python.PythonOperators;
import io.troupe.chat.python.TemplateException;
import io.troupe.chat.python.TemplateValue;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Functions that every template sees: Jinja's own, and those of chat templates. */
final class TemplateFunctions {
  /** The bound of Jinja's sandbox. */
  private static final int LONGEST_RANGE = 100_000;

  private TemplateFunctions() {}

  static Map<String, TemplateValue> globals(Clock clock) {
    Map<String, TemplateValue> globals = new HashMap<>();
    add(globals, "range", TemplateFunctions::range);
    add(
        globals,
        "namespace",
        (positional, named) -> {
          Map<String, TemplateValue> attributes = new LinkedHashMap<>();
          entries("namespace", positional, named)
              .forEach((key, value) -> attributes.put(key.string(), value));
          return new TemplateValue.Namespace(attributes);
        });
    add(
        globals,
        "dict",
        (positional, named) -> new TemplateValue.Dict(entries("dict", positional, named)));
    add(
        globals,
        "raise_exception",
        (positional, named) -> {
          CallArguments a = CallArguments.of("raise_exception", "message", positional, named);
          throw new TemplateException(a.get("message").text());
        });
    add(
        globals,
        "strftime_now",
        (positional, named) -> {
          CallArguments a = CallArguments.of("strftime_now", "format", positional, named);
          return new TemplateValue.Text(Strftime.now(clock, a.string("format")));
        });
    for (String unsupported : List.of("cycler", "joiner", "lipsum")) {
      add(
          globals,
          unsupported,
          (_, _) -> {
            throw new TemplateException(
                "the function '%s' is not supported".formatted(unsupported));
          });
    }
    return globals;
  }

  private static void add(
      Map<String, TemplateValue> globals, String name, TemplateValue.Callable.Body body) {
    globals.put(name, new TemplateValue.Callable(name, body));
  }

  /** The entries of Python's {@code dict(other, name=value)}. */
  private static Map<TemplateValue, TemplateValue> entries(
      String name, List<TemplateValue> positional, Map<String, TemplateValue> named) {
    Map<TemplateValue, TemplateValue> entries = new LinkedHashMap<>();
    CallArguments.of(name, "other? /", positional, Map.of())
        .find("other")
        .ifPresent(
            other -> {
              if (other instanceof TemplateValue.Dict(var inside)) {
                entries.putAll(inside);
                return;
              }
              for (TemplateValue pair : other.items()) {
                List<TemplateValue> two = pair.items();
                if (two.size() != 2) {
                  throw new TemplateException("a dictionary is made of pairs");
                }
                put(entries, two.get(0), two.get(1));
              }
            });
    named.forEach((key, value) -> entries.put(new TemplateValue.Text(key), value));
    return entries;
  }

  /** Adds an entry; of keys that are equal, the first stays, with the last value. */
  static void put(
      Map<TemplateValue, TemplateValue> entries, TemplateValue key, TemplateValue value) {
    if (key instanceof TemplateValue.Seq || key instanceof TemplateValue.Dict) {
      throw new TemplateException("%s is no key".formatted(key.shortened()));
    }
    TemplateValue kept =
        key.isNumber()
            ? entries.keySet().stream()
                .filter(each -> PythonOperators.same(each, key))
                .findFirst()
                .orElse(key)
            : key;
    entries.put(kept, value);
  }

  private static TemplateValue range(
      List<TemplateValue> positional, Map<String, TemplateValue> named) {
    CallArguments a = CallArguments.of("range", "start stop? step? /", positional, named);
    boolean two = a.find("stop").isPresent();
    long from = two ? a.get("start").index() : 0;
    long to = two ? a.get("stop").index() : a.get("start").index();
    long step = a.index("step", 1);
    if (step == 0 || Math.abs((to - from) / step) > LONGEST_RANGE) {
      throw new TemplateException(
          "range needs a step, and at most %,d of them".formatted(LONGEST_RANGE));
    }
    List<TemplateValue> numbers = new ArrayList<>();
    for (long i = from; step > 0 ? i < to : i > to; i += step) {
      numbers.add(TemplateValue.Int.of(i));
    }
    String shown = "range(%d, %d%s)".formatted(from, to, step == 1 ? "" : ", " + step);
    return new TemplateValue.View("range", numbers, shown);
  }
}
