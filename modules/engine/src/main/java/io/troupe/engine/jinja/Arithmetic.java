package io.troupe.engine.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Operators between two values, with Python's meaning. */
final class Arithmetic {
  private Arithmetic() {}

  static Value apply(String operator, Value left, Value right) {
    if (operator.equals("~")) {
      return new Value.Text(left.text() + right.text());
    }
    if (operator.equals("+") && left instanceof Value.Text(String a)) {
      if (right instanceof Value.Text(String b)) {
        return new Value.Text(a + b);
      }
    } else if (operator.equals("+") && left instanceof Value.Seq(var a)) {
      if (right instanceof Value.Seq(var b)) {
        List<Value> both = new ArrayList<>(a);
        both.addAll(b);
        return new Value.Seq(both);
      }
    } else if (operator.equals("*") && left instanceof Value.Text(String a)) {
      return new Value.Text(a.repeat((int) Math.max(0, right.integer())));
    } else if (left.isNumber() && right.isNumber()) {
      return numbers(operator, left, right);
    }
    throw new TemplateException(
        "'%s' does not go between %s and %s".formatted(operator, left.repr(), right.repr()));
  }

  private static Value numbers(String operator, Value left, Value right) {
    boolean real = left instanceof Value.Real || right instanceof Value.Real;
    double a = left.number();
    double b = right.number();
    if (b == 0 && (operator.equals("/") || operator.equals("//") || operator.equals("%"))) {
      throw new TemplateException("a division by 0");
    }
    if (operator.equals("/")) {
      return new Value.Real(a / b);
    }
    if (real) {
      return new Value.Real(
          switch (operator) {
            case "+" -> a + b;
            case "-" -> a - b;
            case "*" -> a * b;
            case "//" -> Math.floor(a / b);
            case "%" -> a - b * Math.floor(a / b);
            case "**" -> Math.pow(a, b);
            default -> throw new TemplateException("no operator '%s'".formatted(operator));
          });
    }
    long m = left.integer();
    long n = right.integer();
    return new Value.Int(
        switch (operator) {
          case "+" -> m + n;
          case "-" -> m - n;
          case "*" -> m * n;
          case "//" -> Math.floorDiv(m, n);
          case "%" -> Math.floorMod(m, n);
          case "**" -> Math.round(Math.pow(a, b));
          default -> throw new TemplateException("no operator '%s'".formatted(operator));
        });
  }

  static boolean compare(String operator, Value left, Value right) {
    return switch (operator) {
      case "==" -> left.same(right);
      case "!=" -> !left.same(right);
      case "in" -> contains(right, left);
      case "not in" -> !contains(right, left);
      case "<" -> order(left, right) < 0;
      case "<=" -> order(left, right) <= 0;
      case ">" -> order(left, right) > 0;
      case ">=" -> order(left, right) >= 0;
      default -> throw new TemplateException("no comparison '%s'".formatted(operator));
    };
  }

  static boolean contains(Value container, Value item) {
    return switch (container) {
      case Value.Text(String text) when item instanceof Value.Text(String part) ->
          text.contains(part);
      case Value.Dict(Map<String, Value> entries) -> entries.containsKey(item.text());
      case Value.Seq(var items) -> items.stream().anyMatch(item::same);
      case Value.Undefined _ -> false;
      default ->
          throw new TemplateException(
              "%s cannot be in %s".formatted(item.repr(), container.repr()));
    };
  }

  static int order(Value left, Value right) {
    if (left instanceof Value.Text(String a) && right instanceof Value.Text(String b)) {
      return a.compareTo(b);
    }
    if (left.isNumber() && right.isNumber()) {
      return Double.compare(left.number(), right.number());
    }
    throw new TemplateException("%s and %s have no order".formatted(left.repr(), right.repr()));
  }
}
