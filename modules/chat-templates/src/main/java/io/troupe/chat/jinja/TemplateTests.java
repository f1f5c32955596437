package io.troupe.chat.jinja;

import io.troupe.base.text.PythonText;
import io.troupe.chat.python.CallArguments;
import io.troupe.chat.python.PythonOperators;
import io.troupe.chat.python.TemplateException;
import io.troupe.chat.python.TemplateValue;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The tests that {@code is} applies. */
final class TemplateTests {
  private static final Map<String, String> OPERATORS =
      Map.ofEntries(
          Map.entry("eq", "=="),
          Map.entry("equalto", "=="),
          Map.entry("ne", "!="),
          Map.entry("lt", "<"),
          Map.entry("lessthan", "<"),
          Map.entry("gt", ">"),
          Map.entry("greaterthan", ">"),
          Map.entry("le", "<="),
          Map.entry("ge", ">="));
  private static final Set<String> SYMBOLS = Set.of("==", "!=", "<", "<=", ">", ">=");

  private TemplateTests() {}

  static boolean holds(
      String name,
      TemplateValue value,
      List<TemplateValue> positional,
      Map<String, TemplateValue> named) {
    String operator = SYMBOLS.contains(name) ? name : OPERATORS.getOrDefault(name, "");
    String parameter =
        switch (name) {
          case "divisibleby" -> "num";
          case "sameas" -> "other";
          case "in" -> "seq";
          default -> operator.isEmpty() ? "" : "other /";
        };
    CallArguments a = CallArguments.of("is " + name, parameter, positional, named);
    if (!operator.isEmpty()) {
      return PythonOperators.compare(operator, value, a.get("other"));
    }
    return switch (name) {
      case "defined" -> !(value instanceof TemplateValue.Undefined);
      case "undefined" -> value instanceof TemplateValue.Undefined;
      case "none" -> value instanceof TemplateValue.None;
      case "string" -> isText(value);
      case "boolean" -> value instanceof TemplateValue.Bool;
      case "integer" -> value instanceof TemplateValue.Int;
      case "float" -> value instanceof TemplateValue.Real;
      case "number" -> value.isNumber();
      case "mapping" -> value instanceof TemplateValue.Dict;
      case "sequence" -> isSequence(value);
      case "iterable" -> isIterable(value);
      case "callable" -> isCallable(value);
      case "escaped" -> value instanceof TemplateValue.Markup;
      case "true" -> value.equals(TemplateValue.Bool.TRUE);
      case "false" -> value.equals(TemplateValue.Bool.FALSE);
      case "odd" -> modulus(value, BigInteger.TWO, 1);
      case "even" -> modulus(value, BigInteger.TWO, 0);
      case "divisibleby" -> modulus(value, a.get("num").whole(), 0);
      case "sameas" -> identical(value, a.get("other"));
      case "in" -> PythonOperators.contains(a.get("seq"), value);
      case "upper" -> PythonText.isUpper(value.text());
      case "lower" -> PythonText.isLower(value.text());
      default -> throw new TemplateException("there is no test '%s'".formatted(name));
    };
  }

  private static boolean isText(TemplateValue value) {
    return value instanceof TemplateValue.Text || value instanceof TemplateValue.Markup;
  }

  private static boolean isSequence(TemplateValue value) {
    return switch (value) {
      case TemplateValue.Seq _,
          TemplateValue.Tuple _,
          TemplateValue.Dict _,
          TemplateValue.Undefined _ ->
          true;
      case TemplateValue.View(String type, _, _) -> type.equals("range");
      default -> isText(value);
    };
  }

  private static boolean isIterable(TemplateValue value) {
    return switch (value) {
      case TemplateValue.Seq _,
          TemplateValue.Tuple _,
          TemplateValue.Dict _,
          TemplateValue.View _,
          TemplateValue.Stream _,
          TemplateValue.Undefined _ ->
          true;
      case TemplateValue.Special _ -> true;
      default -> isText(value);
    };
  }

  private static boolean isCallable(TemplateValue value) {
    return switch (value) {
      case TemplateValue.Callable _, TemplateValue.Special _, TemplateValue.Undefined _ -> true;
      default -> false;
    };
  }

  private static boolean modulus(TemplateValue value, BigInteger by, int rest) {
    return PythonOperators.same(
        PythonOperators.apply("%", value, new TemplateValue.Int(by)), TemplateValue.Int.of(rest));
  }

  /** Python's {@code is}, where it does not depend on how Python keeps equal values. */
  @SuppressWarnings("ReferenceEquality") // That is what the test asks.
  private static boolean identical(TemplateValue a, TemplateValue b) {
    boolean constant = a instanceof TemplateValue.None || a instanceof TemplateValue.Bool;
    if (constant || a.getClass() != b.getClass()) {
      return a.equals(b);
    }
    boolean kept = isText(a) || a.isNumber() || a instanceof TemplateValue.Tuple;
    if ((a != b && kept && a.equals(b)) || a instanceof TemplateValue.Undefined) {
      throw new TemplateException("'is sameas' of equal values is not supported; write '=='");
    }
    return a == b;
  }
}
