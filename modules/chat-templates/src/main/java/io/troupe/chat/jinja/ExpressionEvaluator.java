package io.troupe.chat.jinja;

import io.troupe.chat.python.PythonAccess;
import io.troupe.chat.python.PythonOperators;
import io.troupe.chat.python.TemplateException;
import io.troupe.chat.python.TemplateValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** Evaluates expressions. */
final class ExpressionEvaluator {
  /** Names that Jinja gives a meaning of its own, which this interpreter lacks. */
  private static final Set<String> UNSUPPORTED = Set.of("self", "varargs", "kwargs");

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
      case Expression.Name(String name, int line) -> name(name, line, scope);
      case Expression.Sequence(var items) -> new TemplateValue.Seq(all(items, scope));
      case Expression.TupleOf(var items) -> new TemplateValue.Tuple(all(items, scope));
      case Expression.Mapping(var entries, int line) ->
          at(
              line,
              () -> {
                Map<TemplateValue, TemplateValue> map = new LinkedHashMap<>();
                entries.forEach(
                    e ->
                        TemplateFunctions.put(map, of(e.getKey(), scope), of(e.getValue(), scope)));
                return new TemplateValue.Dict(map);
              });
      case Expression.Attribute(Expression of, String name, int line) ->
          at(line, () -> PythonAccess.attribute(of(of, scope), name));
      case Expression.Item(Expression of, Expression key, int line) ->
          at(line, () -> PythonAccess.item(of(of, scope), of(key, scope)));
      case Expression.Slice slice ->
          at(
              slice.line(),
              () ->
                  PythonAccess.slice(
                      of(slice.of(), scope),
                      of(slice.from(), scope),
                      of(slice.to(), scope),
                      of(slice.step(), scope)));
      case Expression.Call call -> at(call.line(), () -> call(call, scope));
      case Expression.Filter(Expression of, String name, var arguments, int line) ->
          filtered(name, of(of, scope), arguments, line, scope);
      case Expression.Test test -> at(test.line(), () -> test(test, scope));
      case Expression.Not(Expression of) -> TemplateValue.of(!of(of, scope).truth());
      case Expression.Negative(Expression of, int line) ->
          at(line, () -> PythonOperators.negative(of(of, scope)));
      case Expression.Positive(Expression of, int line) ->
          at(line, () -> PythonOperators.positive(of(of, scope)));
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

  private static TemplateValue name(String name, int line, VariableScope scope) {
    TemplateValue value = scope.get(name);
    if (value instanceof TemplateValue.Undefined && UNSUPPORTED.contains(name)) {
      throw new TemplateException(line, "the name '%s' is not supported".formatted(name));
    }
    return value;
  }

  /** A value behind a filter. */
  static TemplateValue filtered(
      String name,
      TemplateValue value,
      Expression.Arguments arguments,
      int line,
      VariableScope scope) {
    return at(
        line,
        () ->
            TemplateFilters.apply(
                name, value, all(arguments.positional(), scope), named(arguments, scope)));
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
    throw new TemplateException("%s is no function".formatted(function.shortened()));
  }

  private static TemplateValue test(Expression.Test test, VariableScope scope) {
    TemplateValue value = of(test.of(), scope);
    boolean holds =
        TemplateTests.holds(
            test.name(),
            value,
            all(test.arguments().positional(), scope),
            named(test.arguments(), scope));
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
}
