package io.troupe.chat.jinja;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Evaluates expressions. */
final class ExpressionEvaluator {
  private ExpressionEvaluator() {}

  /** Runs work and adds the line of the template to its exceptions. */
  static <T> T at(int line, Supplier<T> work) {
    try {
      return work.get();
    } catch (TemplateException complaint) {
      String message = String.valueOf(complaint.getMessage());
      throw message.startsWith("line ") ? complaint : new TemplateException(line, message);
    }
  }

  static TemplateValue of(Expression expression, VariableScope scope) {
    return switch (expression) {
      case Expression.Literal(TemplateValue value) -> value;
      case Expression.Name(String name, _) -> scope.get(name);
      case Expression.Sequence(var items) -> new TemplateValue.Seq(all(items, scope));
      case Expression.Mapping(var entries) -> {
        Map<String, TemplateValue> map = new LinkedHashMap<>();
        entries.forEach(e -> map.put(of(e.getKey(), scope).text(), of(e.getValue(), scope)));
        yield new TemplateValue.Dict(map);
      }
      case Expression.Attribute(Expression of, String name, int line) ->
          at(line, () -> attribute(of(of, scope), name));
      case Expression.Item(Expression of, Expression key, int line) ->
          at(line, () -> item(of(of, scope), of(key, scope)));
      case Expression.Slice slice -> at(slice.line(), () -> slice(slice, scope));
      case Expression.Call call -> at(call.line(), () -> call(call, scope));
      case Expression.Filter(Expression of, String name, var arguments, int line) ->
          at(
              line,
              () ->
                  TemplateFilters.apply(
                      name,
                      of(of, scope),
                      all(arguments.positional(), scope),
                      named(arguments, scope)));
      case Expression.Test test -> at(test.line(), () -> test(test, scope));
      case Expression.Not(Expression of) -> TemplateValue.of(!of(of, scope).truth());
      case Expression.Negative(Expression of, int line) ->
          at(line, () -> PythonOperators.apply("-", new TemplateValue.Int(0), of(of, scope)));
      case Expression.Binary(String operator, Expression left, Expression right, int line) ->
          at(line, () -> PythonOperators.apply(operator, of(left, scope), of(right, scope)));
      case Expression.Comparison comparison ->
          at(comparison.line(), () -> compare(comparison, scope));
      case Expression.And(Expression left, Expression right) -> {
        TemplateValue first = of(left, scope);
        yield first.truth() ? of(right, scope) : first;
      }
      case Expression.Or(Expression left, Expression right) -> {
        TemplateValue first = of(left, scope);
        yield first.truth() ? first : of(right, scope);
      }
      case Expression.Conditional(Expression condition, Expression then, Expression otherwise) ->
          of(of(condition, scope).truth() ? then : otherwise, scope);
    };
  }

  private static List<TemplateValue> all(List<Expression> expressions, VariableScope scope) {
    return expressions.stream().map(e -> of(e, scope)).toList();
  }

  private static Map<String, TemplateValue> named(
      Expression.Arguments arguments, VariableScope scope) {
    Map<String, TemplateValue> values = new LinkedHashMap<>();
    arguments.named().forEach((name, e) -> values.put(name, of(e, scope)));
    return values;
  }

  private static TemplateValue call(Expression.Call call, VariableScope scope) {
    TemplateValue function = of(call.function(), scope);
    if (function instanceof TemplateValue.Callable(_, var body)) {
      return body.call(all(call.arguments().positional(), scope), named(call.arguments(), scope));
    }
    throw new TemplateException("%s is no function".formatted(function.repr()));
  }

  private static TemplateValue test(Expression.Test test, VariableScope scope) {
    TemplateValue value = of(test.of(), scope);
    boolean holds =
        TemplateTests.holds(test.name(), value, all(test.arguments().positional(), scope));
    return TemplateValue.of(holds != test.negated());
  }

  private static TemplateValue compare(Expression.Comparison comparison, VariableScope scope) {
    TemplateValue left = of(comparison.first(), scope);
    for (Expression.Comparison.Step step : comparison.steps()) {
      TemplateValue right = of(step.right(), scope);
      if (!PythonOperators.compare(step.operator(), left, right)) {
        return TemplateValue.Bool.FALSE;
      }
      left = right;
    }
    return TemplateValue.Bool.TRUE;
  }

  /** {@code of.name}: a method takes precedence over an entry, as in Python. */
  private static TemplateValue attribute(TemplateValue of, String name) {
    if (of instanceof TemplateValue.Undefined(String what)) {
      throw new TemplateException("'%s' is undefined and has no '%s'".formatted(what, name));
    }
    if (of instanceof TemplateValue.Namespace(var attributes)) {
      TemplateValue value = attributes.get(name);
      return value == null ? new TemplateValue.Undefined(name) : value;
    }
    return PythonMethods.of(of, name).orElseGet(() -> entry(of, name));
  }

  private static TemplateValue entry(TemplateValue of, String name) {
    if (of instanceof TemplateValue.Dict(var entries)) {
      TemplateValue value = entries.get(name);
      return value == null ? new TemplateValue.Undefined(name) : value;
    }
    return new TemplateValue.Undefined(name);
  }

  private static TemplateValue item(TemplateValue of, TemplateValue key) {
    return switch (of) {
      case TemplateValue.Undefined(String what) ->
          throw new TemplateException(
              "'%s' is undefined and has no item %s".formatted(what, key.repr()));
      case TemplateValue.Seq(var items) when key instanceof TemplateValue.Int(long index) ->
          at(items, index);
      case TemplateValue.Text _ when key instanceof TemplateValue.Int(long index) ->
          at(of.items(), index);
      case TemplateValue.Dict _ -> entry(of, key.text());
      default -> attribute(of, key.text());
    };
  }

  private static TemplateValue at(List<TemplateValue> items, long index) {
    long place = index < 0 ? index + items.size() : index;
    return place >= 0 && place < items.size()
        ? items.get((int) place)
        : new TemplateValue.Undefined("item " + index);
  }

  private static TemplateValue slice(Expression.Slice slice, VariableScope scope) {
    TemplateValue of = of(slice.of(), scope);
    List<TemplateValue> items = of.items();
    TemplateValue given = of(slice.step(), scope);
    long step = given instanceof TemplateValue.None ? 1 : given.integer();
    if (step == 0) {
      throw new TemplateException("a slice has no step of 0");
    }
    boolean backwards = step < 0;
    long size = items.size();
    long from = bound(of(slice.from(), scope), backwards ? size - 1 : 0, size, backwards);
    long to = bound(of(slice.to(), scope), backwards ? -1 : size, size, backwards);
    List<TemplateValue> part = new ArrayList<>();
    for (long i = from; backwards ? i > to : i < to; i += step) {
      part.add(items.get((int) i));
    }
    if (of instanceof TemplateValue.Text) {
      StringBuilder text = new StringBuilder();
      part.forEach(character -> text.append(character.text()));
      return new TemplateValue.Text(text.toString());
    }
    return new TemplateValue.Seq(Collections.unmodifiableList(part));
  }

  private static long bound(TemplateValue given, long byDefault, long size, boolean backwards) {
    if (given instanceof TemplateValue.None) {
      return byDefault;
    }
    long place = given.integer();
    long fromStart = place < 0 ? place + size : place;
    return backwards ? Math.clamp(fromStart, -1, size - 1) : Math.clamp(fromStart, 0, size);
  }
}
