package io.troupe.engine.jinja;

import java.util.List;

/** What {@code is} asks. */
final class Tests {
  private Tests() {}

  static boolean holds(String name, Value value, List<Value> arguments) {
    return switch (name) {
      case "defined" -> !(value instanceof Value.Undefined);
      case "undefined" -> value instanceof Value.Undefined;
      case "none" -> value instanceof Value.None;
      case "string" -> value instanceof Value.Text;
      case "boolean" -> value instanceof Value.Bool;
      case "integer" -> value instanceof Value.Int;
      case "float" -> value instanceof Value.Real;
      case "number" -> value.isNumber();
      case "mapping" -> value instanceof Value.Dict;
      case "iterable", "sequence" ->
          value instanceof Value.Seq || value instanceof Value.Dict || value instanceof Value.Text;
      case "callable" -> value instanceof Value.Callable;
      case "true" -> value.equals(Value.Bool.TRUE);
      case "false" -> value.equals(Value.Bool.FALSE);
      case "odd" -> Math.floorMod(value.integer(), 2L) == 1;
      case "even" -> Math.floorMod(value.integer(), 2L) == 0;
      case "divisibleby" ->
          Math.floorMod(value.integer(), argument(name, arguments).integer()) == 0;
      case "equalto", "eq", "sameas" -> value.same(argument(name, arguments));
      case "ne" -> !value.same(argument(name, arguments));
      case "in" -> Arithmetic.contains(argument(name, arguments), value);
      case "lt", "lessthan" -> Arithmetic.order(value, argument(name, arguments)) < 0;
      case "gt", "greaterthan" -> Arithmetic.order(value, argument(name, arguments)) > 0;
      case "le" -> Arithmetic.order(value, argument(name, arguments)) <= 0;
      case "ge" -> Arithmetic.order(value, argument(name, arguments)) >= 0;
      case "upper" -> value.text().equals(value.text().toUpperCase(java.util.Locale.ROOT));
      case "lower" -> value.text().equals(value.text().toLowerCase(java.util.Locale.ROOT));
      default -> throw new TemplateException("there is no test '%s'".formatted(name));
    };
  }

  private static Value argument(String name, List<Value> arguments) {
    if (arguments.isEmpty()) {
      throw new TemplateException("the test '%s' needs a value to compare with".formatted(name));
    }
    return arguments.getFirst();
  }
}
