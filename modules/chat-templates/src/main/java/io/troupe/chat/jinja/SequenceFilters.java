package io.troupe.chat.jinja;

import io.troupe.base.text.PythonText;
import io.troupe.chat.python.CallArguments;
import io.troupe.chat.python.PythonAccess;
import io.troupe.chat.python.PythonOperators;
import io.troupe.chat.python.TemplateException;
import io.troupe.chat.python.TemplateValue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** The filters of sequences and dictionaries. */
final class SequenceFilters {
  private static final Comparator<TemplateValue> ORDER =
      (a, b) -> PythonOperators.order(a, b).orElse(0);

  private SequenceFilters() {}

  /** Reads an attribute, which may be one of an attribute: {@code a.b.0}. */
  private static UnaryOperator<TemplateValue> getter(
      Optional<TemplateValue> attribute, Optional<TemplateValue> byDefault) {
    List<TemplateValue> parts = attribute.map(SequenceFilters::parts).orElse(List.of());
    return item -> {
      TemplateValue value = item;
      for (TemplateValue part : parts) {
        value = PythonAccess.item(value, part);
        if (byDefault.isPresent() && value instanceof TemplateValue.Undefined) {
          value = byDefault.get();
        }
      }
      return value;
    };
  }

  private static List<TemplateValue> parts(TemplateValue attribute) {
    return attribute instanceof TemplateValue.Text(String path)
        ? PythonText.split(path, ".").stream().map(SequenceFilters::part).toList()
        : List.of(attribute);
  }

  private static TemplateValue part(String name) {
    return name.matches("\\d{1,9}")
        ? TemplateValue.Int.of(Long.parseLong(name))
        : new TemplateValue.Text(name);
  }

  /** The value that orders an item: without case, unless that counts. */
  private static UnaryOperator<TemplateValue> key(CallArguments a) {
    UnaryOperator<TemplateValue> getter = getter(a.some("attribute"), Optional.empty());
    return item -> folded(getter.apply(item), a);
  }

  private static TemplateValue folded(TemplateValue value, CallArguments a) {
    return !a.flag("case_sensitive") && value instanceof TemplateValue.Text(String text)
        ? new TemplateValue.Text(PythonText.lower(text))
        : value;
  }

  static TemplateValue items(TemplateValue of) {
    return switch (of) {
      case TemplateValue.Dict _ -> TemplateValue.Stream.of(pairs(of));
      case TemplateValue.Undefined _ -> TemplateValue.Stream.of(List.of());
      default -> throw new TemplateException("%s has no items".formatted(of.shortened()));
    };
  }

  private static List<TemplateValue> pairs(TemplateValue of) {
    if (of instanceof TemplateValue.Dict(var entries)) {
      return entries.entrySet().stream()
          .map(each -> (TemplateValue) TemplateValue.Tuple.of(each.getKey(), each.getValue()))
          .toList();
    }
    throw new TemplateException("%s has no items".formatted(of.shortened()));
  }

  static String joined(TemplateValue of, CallArguments a) {
    UnaryOperator<TemplateValue> getter = getter(a.some("attribute"), Optional.empty());
    return of.items().stream()
        .map(getter)
        .map(TemplateValue::text)
        .collect(Collectors.joining(a.find("d").map(TemplateValue::text).orElse("")));
  }

  static TemplateValue first(TemplateValue of) {
    if (of instanceof TemplateValue.Stream(var left)) {
      return left.hasNext() ? left.next() : new TemplateValue.Undefined("first");
    }
    List<TemplateValue> items = of.items();
    return items.isEmpty() ? new TemplateValue.Undefined("first") : items.getFirst();
  }

  static TemplateValue last(TemplateValue of) {
    if (of instanceof TemplateValue.Stream) {
      throw new TemplateException("a generator has no last item; put '| list' before it");
    }
    List<TemplateValue> items = of.items();
    return items.isEmpty() ? new TemplateValue.Undefined("last") : items.getLast();
  }

  static TemplateValue reversed(TemplateValue of) {
    List<TemplateValue> items = of.items().reversed();
    return switch (of) {
      case TemplateValue.Text _, TemplateValue.Markup _ ->
          new TemplateValue.Text(
              items.stream().map(TemplateValue::text).collect(Collectors.joining()));
      case TemplateValue.Stream _ -> new TemplateValue.Seq(List.copyOf(items));
      default -> TemplateValue.Stream.of(List.copyOf(items));
    };
  }

  static TemplateValue sorted(TemplateValue of, CallArguments a) {
    List<UnaryOperator<TemplateValue>> getters = new ArrayList<>();
    Optional<TemplateValue> attribute = a.some("attribute");
    if (attribute.orElse(TemplateValue.None.NONE) instanceof TemplateValue.Text(String names)) {
      for (String name : PythonText.split(names, ",")) {
        getters.add(getter(Optional.of(new TemplateValue.Text(name)), Optional.empty()));
      }
    } else {
      getters.add(getter(attribute, Optional.empty()));
    }
    Function<TemplateValue, TemplateValue> keys =
        item ->
            new TemplateValue.Seq(
                getters.stream().map(getter -> folded(getter.apply(item), a)).toList());
    return new TemplateValue.Seq(sorted(of.items(), keys, a));
  }

  private static List<TemplateValue> sorted(
      List<TemplateValue> items, Function<TemplateValue, TemplateValue> key, CallArguments a) {
    List<Map.Entry<TemplateValue, TemplateValue>> keyed = new ArrayList<>();
    items.forEach(item -> keyed.add(Map.entry(key.apply(item), item)));
    Comparator<Map.Entry<TemplateValue, TemplateValue>> byKey = Map.Entry.comparingByKey(ORDER);
    keyed.sort(a.flag("reverse") ? byKey.reversed() : byKey);
    return keyed.stream().map(Map.Entry::getValue).toList();
  }

  static TemplateValue dictSorted(TemplateValue of, CallArguments a) {
    String by = a.find("by").map(TemplateValue::text).orElse("key");
    if (!by.equals("key") && !by.equals("value")) {
      throw new TemplateException("'dictsort' sorts by key or value, not by '%s'".formatted(by));
    }
    int place = by.equals("key") ? 0 : 1;
    return new TemplateValue.Seq(sorted(pairs(of), pair -> folded(pair.items().get(place), a), a));
  }

  static TemplateValue unique(TemplateValue of, CallArguments a) {
    UnaryOperator<TemplateValue> key = key(a);
    List<TemplateValue> seen = new ArrayList<>();
    List<TemplateValue> kept = new ArrayList<>();
    for (TemplateValue item : of.items()) {
      TemplateValue each = key.apply(item);
      if (each instanceof TemplateValue.Seq || each instanceof TemplateValue.Dict) {
        throw new TemplateException("'unique' takes no lists or dictionaries");
      }
      if (seen.stream().noneMatch(other -> PythonOperators.same(other, each))) {
        seen.add(each);
        kept.add(item);
      }
    }
    return TemplateValue.Stream.of(kept);
  }

  static TemplateValue extreme(TemplateValue of, CallArguments a, int sign) {
    UnaryOperator<TemplateValue> key = key(a);
    List<TemplateValue> items = of.items();
    if (items.isEmpty()) {
      return new TemplateValue.Undefined("item of an empty sequence");
    }
    TemplateValue best = items.getFirst();
    for (TemplateValue item : items.subList(1, items.size())) {
      if (PythonOperators.order(key.apply(item), key.apply(best)).orElse(0) * sign > 0) {
        best = item;
      }
    }
    return best;
  }

  /** Python's {@code sum}, which adds floats with the compensation of Neumaier. */
  static TemplateValue sum(TemplateValue of, CallArguments a) {
    UnaryOperator<TemplateValue> getter = getter(a.some("attribute"), Optional.empty());
    TemplateValue sum = a.find("start").orElse(TemplateValue.Int.of(0));
    if (sum instanceof TemplateValue.Text) {
      throw new TemplateException("'sum' adds no texts");
    }
    double lost = 0;
    for (TemplateValue item : of.items()) {
      TemplateValue next = getter.apply(item);
      boolean reals = sum instanceof TemplateValue.Real && next instanceof TemplateValue.Real;
      TemplateValue total = PythonOperators.apply("+", sum, next);
      if (reals) {
        double x = sum.number();
        double y = next.number();
        lost += Math.abs(x) >= Math.abs(y) ? x - total.number() + y : y - total.number() + x;
      }
      sum = total;
    }
    return lost != 0 && Double.isFinite(lost) ? new TemplateValue.Real(sum.number() + lost) : sum;
  }

  static TemplateValue batched(TemplateValue of, CallArguments a) {
    int size = a.get("linecount").index();
    if (size < 1) {
      throw new TemplateException("'batch' needs 1 item or more");
    }
    List<TemplateValue> items = of.items();
    List<TemplateValue> batches = new ArrayList<>();
    for (int from = 0; from < items.size(); from += size) {
      List<TemplateValue> batch =
          new ArrayList<>(items.subList(from, Math.min(items.size(), from + size)));
      while (a.some("fill_with").isPresent() && batch.size() < size) {
        batch.add(a.get("fill_with"));
      }
      batches.add(new TemplateValue.Seq(batch));
    }
    return TemplateValue.Stream.of(batches);
  }

  static TemplateValue sliced(TemplateValue of, CallArguments a) {
    int count = a.get("slices").index();
    List<TemplateValue> items = of.items();
    if (count < 1) {
      throw new TemplateException("'slice' needs 1 slice or more");
    }
    List<TemplateValue> slices = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < count; i++) {
      boolean extra = i < items.size() % count;
      int to = from + items.size() / count + (extra ? 1 : 0);
      List<TemplateValue> slice = new ArrayList<>(items.subList(from, to));
      if (!extra) {
        a.some("fill_with").ifPresent(slice::add);
      }
      slices.add(new TemplateValue.Seq(slice));
      from = to;
    }
    return TemplateValue.Stream.of(slices);
  }

  static TemplateValue mapped(
      TemplateValue of, List<TemplateValue> positional, Map<String, TemplateValue> named) {
    List<TemplateValue> mapped = new ArrayList<>();
    if (!of.truth()) {
      return TemplateValue.Stream.of(mapped);
    }
    UnaryOperator<TemplateValue> each;
    if (positional.isEmpty() && named.containsKey("attribute")) {
      CallArguments a = CallArguments.of("map", "attribute default?", positional, named);
      each = getter(a.some("attribute"), a.some("default"));
    } else if (positional.isEmpty()) {
      throw new TemplateException("'map' needs a filter or an attribute");
    } else {
      String filter = positional.getFirst().string();
      List<TemplateValue> more = positional.subList(1, positional.size());
      each = item -> TemplateFilters.apply(filter, item, more, named);
    }
    of.items().forEach(item -> mapped.add(each.apply(item)));
    return TemplateValue.Stream.of(mapped);
  }

  /**
   * Chooses items by a test.
   *
   * @param byAttribute whether the first argument names an attribute that is tested
   * @param wanted the outcome of the test for the items that stay
   */
  static TemplateValue chosen(
      TemplateValue of,
      List<TemplateValue> positional,
      Map<String, TemplateValue> named,
      boolean byAttribute,
      boolean wanted) {
    List<TemplateValue> chosen = new ArrayList<>();
    if (!of.truth()) {
      return TemplateValue.Stream.of(chosen);
    }
    if (byAttribute && positional.isEmpty()) {
      throw new TemplateException("a filter needs the name of an attribute");
    }
    UnaryOperator<TemplateValue> getter =
        byAttribute
            ? getter(Optional.of(positional.getFirst()), Optional.empty())
            : UnaryOperator.identity();
    List<TemplateValue> test = positional.subList(byAttribute ? 1 : 0, positional.size());
    Predicate<TemplateValue> holds =
        test.isEmpty()
            ? TemplateValue::truth
            : value ->
                TemplateTests.holds(
                    test.getFirst().string(), value, test.subList(1, test.size()), named);
    of.items().stream()
        .filter(item -> holds.test(getter.apply(item)) == wanted)
        .forEach(chosen::add);
    return TemplateValue.Stream.of(chosen);
  }
}
