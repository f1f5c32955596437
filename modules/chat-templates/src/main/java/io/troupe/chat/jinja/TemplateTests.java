package io.troupe.chat.jinja;

import java.util.List;

/** The tests that {@code is} applies. */
final class TemplateTests {
  private TemplateTests() {}

  static boolean holds(String name, TemplateValue value, List<TemplateValue> arguments) {
    return switch (name) {
      case "defined" -> !(value instanceof TemplateValue.Undefined);
      case "undefined" -> value instanceof TemplateValue.Undefined;
      case "none" -> value instanceof TemplateValue.None;
      case "string" -> value instanceof TemplateValue.Text;
      case "boolean" -> value instanceof TemplateValue.Bool;
      case "integer" -> value instanceof TemplateValue.Int;
      case "float" -> value instanceof TemplateValue.Real;
      case "number" -> value.isNumber();
      case "mapping" -> value instanceof TemplateValue.Dict;
      case "iterable", "sequence" ->
          value instanceof TemplateValue.Seq
              || value instanceof TemplateValue.Dict
              || value instanceof TemplateValue.Text;
      case "callable" -> value instanceof TemplateValue.Callable;
      case "true" -> value.equals(TemplateValue.Bool.TRUE);
      case "false" -> value.equals(TemplateValue.Bool.FALSE);
      case "odd" -> Math.floorMod(value.integer(), 2L) == 1;
      case "even" -> Math.floorMod(value.integer(), 2L) == 0;
      case "divisibleby" ->
          Math.floorMod(value.integer(), argument(name, arguments).integer()) == 0;
      case "equalto", "eq", "sameas" -> value.same(argument(name, arguments));
      case "ne" -> !value.same(argument(name, arguments));
      case "in" -> PythonOperators.contains(argument(name, arguments), value);
      case "lt", "lessthan" -> PythonOperators.order(value, argument(name, arguments)) < 0;
      case "gt", "greaterthan" -> PythonOperators.order(value, argument(name, arguments)) > 0;
      case "le" -> PythonOperators.order(value, argument(name, arguments)) <= 0;
      case "ge" -> PythonOperators.order(value, argument(name, arguments)) >= 0;
      case "upper" -> value.text().equals(value.text().toUpperCase(java.util.Locale.ROOT));
      case "lower" -> value.text().equals(value.text().toLowerCase(java.util.Locale.ROOT));
      default -> throw new TemplateException("there is no test '%s'".formatted(name));
    };
  }

  private static TemplateValue argument(String name, List<TemplateValue> arguments) {
    if (arguments.isEmpty()) {
      throw new TemplateException("the test '%s' needs a value to compare with".formatted(name));
    }
    return arguments.getFirst();
  }
}
