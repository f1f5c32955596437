package io.troupe.engine.jinja;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Gives expressions their values. */
final class Evaluation {
  private Evaluation() {}

  /** Runs something whose complaints belong to a line. */
  static <T> T at(int line, Supplier<T> work) {
    try {
      return work.get();
    } catch (TemplateException complaint) {
      String message = String.valueOf(complaint.getMessage());
      throw message.startsWith("line ") ? complaint : new TemplateException(line, message);
    }
  }

  static Value of(Expression expression, Scope scope) {
    return switch (expression) {
      case Expression.Literal(Value value) -> value;
      case Expression.Name(String name, _) -> scope.get(name);
      case Expression.Sequence(var items) -> new Value.Seq(all(items, scope));
      case Expression.Mapping(var entries) -> {
        Map<String, Value> map = new LinkedHashMap<>();
        entries.forEach(e -> map.put(of(e.getKey(), scope).text(), of(e.getValue(), scope)));
        yield new Value.Dict(map);
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
                  Filters.apply(
                      name,
                      of(of, scope),
                      all(arguments.positional(), scope),
                      named(arguments, scope)));
      case Expression.Test test -> at(test.line(), () -> test(test, scope));
      case Expression.Not(Expression of) -> Value.of(!of(of, scope).truth());
      case Expression.Negative(Expression of, int line) ->
          at(line, () -> Arithmetic.apply("-", new Value.Int(0), of(of, scope)));
      case Expression.Binary(String operator, Expression left, Expression right, int line) ->
          at(line, () -> Arithmetic.apply(operator, of(left, scope), of(right, scope)));
      case Expression.Comparison comparison ->
          at(comparison.line(), () -> compare(comparison, scope));
      case Expression.And(Expression left, Expression right) -> {
        Value first = of(left, scope);
        yield first.truth() ? of(right, scope) : first;
      }
      case Expression.Or(Expression left, Expression right) -> {
        Value first = of(left, scope);
        yield first.truth() ? first : of(right, scope);
      }
      case Expression.Conditional(Expression condition, Expression then, Expression otherwise) ->
          of(of(condition, scope).truth() ? then : otherwise, scope);
    };
  }

  private static List<Value> all(List<Expression> expressions, Scope scope) {
    return expressions.stream().map(e -> of(e, scope)).toList();
  }

  private static Map<String, Value> named(Expression.Arguments arguments, Scope scope) {
    Map<String, Value> values = new LinkedHashMap<>();
    arguments.named().forEach((name, e) -> values.put(name, of(e, scope)));
    return values;
  }

  private static Value call(Expression.Call call, Scope scope) {
    Value function = of(call.function(), scope);
    if (function instanceof Value.Callable(_, var body)) {
      return body.call(all(call.arguments().positional(), scope), named(call.arguments(), scope));
    }
    throw new TemplateException("%s is no function".formatted(function.repr()));
  }

  private static Value test(Expression.Test test, Scope scope) {
    Value value = of(test.of(), scope);
    boolean holds = Tests.holds(test.name(), value, all(test.arguments().positional(), scope));
    return Value.of(holds != test.negated());
  }

  private static Value compare(Expression.Comparison comparison, Scope scope) {
    Value left = of(comparison.first(), scope);
    for (Expression.Comparison.Step step : comparison.steps()) {
      Value right = of(step.right(), scope);
      if (!Arithmetic.compare(step.operator(), left, right)) {
        return Value.Bool.FALSE;
      }
      left = right;
    }
    return Value.Bool.TRUE;
  }

  /** {@code of.name}: a method wins over an entry, as it does in Python. */
  private static Value attribute(Value of, String name) {
    if (of instanceof Value.Undefined(String what)) {
      throw new TemplateException("'%s' is undefined and has no '%s'".formatted(what, name));
    }
    if (of instanceof Value.Namespace(var attributes)) {
      Value value = attributes.get(name);
      return value == null ? new Value.Undefined(name) : value;
    }
    return Methods.of(of, name).orElseGet(() -> entry(of, name));
  }

  private static Value entry(Value of, String name) {
    if (of instanceof Value.Dict(var entries)) {
      Value value = entries.get(name);
      return value == null ? new Value.Undefined(name) : value;
    }
    return new Value.Undefined(name);
  }

  private static Value item(Value of, Value key) {
    return switch (of) {
      case Value.Undefined(String what) ->
          throw new TemplateException(
              "'%s' is undefined and has no item %s".formatted(what, key.repr()));
      case Value.Seq(var items) when key instanceof Value.Int(long index) -> at(items, index);
      case Value.Text _ when key instanceof Value.Int(long index) -> at(of.items(), index);
      case Value.Dict _ -> entry(of, key.text());
      default -> attribute(of, key.text());
    };
  }

  private static Value at(List<Value> items, long index) {
    long place = index < 0 ? index + items.size() : index;
    return place >= 0 && place < items.size()
        ? items.get((int) place)
        : new Value.Undefined("item " + index);
  }

  private static Value slice(Expression.Slice slice, Scope scope) {
    Value of = of(slice.of(), scope);
    List<Value> items = of.items();
    Value given = of(slice.step(), scope);
    long step = given instanceof Value.None ? 1 : given.integer();
    if (step == 0) {
      throw new TemplateException("a slice has no step of 0");
    }
    boolean backwards = step < 0;
    long size = items.size();
    long from = bound(of(slice.from(), scope), backwards ? size - 1 : 0, size, backwards);
    long to = bound(of(slice.to(), scope), backwards ? -1 : size, size, backwards);
    List<Value> part = new ArrayList<>();
    for (long i = from; backwards ? i > to : i < to; i += step) {
      part.add(items.get((int) i));
    }
    if (of instanceof Value.Text) {
      StringBuilder text = new StringBuilder();
      part.forEach(character -> text.append(character.text()));
      return new Value.Text(text.toString());
    }
    return new Value.Seq(Collections.unmodifiableList(part));
  }

  private static long bound(Value given, long byDefault, long size, boolean backwards) {
    if (given instanceof Value.None) {
      return byDefault;
    }
    long place = given.integer();
    long fromStart = place < 0 ? place + size : place;
    return backwards ? Math.clamp(fromStart, -1, size - 1) : Math.clamp(fromStart, 0, size);
  }
}
