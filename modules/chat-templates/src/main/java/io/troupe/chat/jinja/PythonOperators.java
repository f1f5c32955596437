package io.troupe.chat.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Operators between two values, with Python's meaning. */
final class PythonOperators {
  private PythonOperators() {}

  static TemplateValue apply(String operator, TemplateValue left, TemplateValue right) {
    if (operator.equals("~")) {
      return new TemplateValue.Text(left.text() + right.text());
    }
    if (operator.equals("+") && left instanceof TemplateValue.Text(String a)) {
      if (right instanceof TemplateValue.Text(String b)) {
        return new TemplateValue.Text(a + b);
      }
    } else if (operator.equals("+") && left instanceof TemplateValue.Seq(var a)) {
      if (right instanceof TemplateValue.Seq(var b)) {
        List<TemplateValue> both = new ArrayList<>(a);
        both.addAll(b);
        return new TemplateValue.Seq(both);
      }
    } else if (operator.equals("*") && left instanceof TemplateValue.Text(String a)) {
      return new TemplateValue.Text(a.repeat((int) Math.max(0, right.integer())));
    } else if (left.isNumber() && right.isNumber()) {
      return numbers(operator, left, right);
    }
    throw new TemplateException(
        "'%s' does not go between %s and %s".formatted(operator, left.repr(), right.repr()));
  }

  private static TemplateValue numbers(String operator, TemplateValue left, TemplateValue right) {
    boolean real = left instanceof TemplateValue.Real || right instanceof TemplateValue.Real;
    double a = left.number();
    double b = right.number();
    if (b == 0 && (operator.equals("/") || operator.equals("//") || operator.equals("%"))) {
      throw new TemplateException("a division by 0");
    }
    if (operator.equals("/")) {
      return new TemplateValue.Real(a / b);
    }
    if (real) {
      return new TemplateValue.Real(
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
    return new TemplateValue.Int(
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

  static boolean compare(String operator, TemplateValue left, TemplateValue right) {
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

  static boolean contains(TemplateValue container, TemplateValue item) {
    return switch (container) {
      case TemplateValue.Text(String text) when item instanceof TemplateValue.Text(String part) ->
          text.contains(part);
      case TemplateValue.Dict(Map<String, TemplateValue> entries) ->
          entries.containsKey(item.text());
      case TemplateValue.Seq(var items) -> items.stream().anyMatch(item::same);
      case TemplateValue.Undefined _ -> false;
      default ->
          throw new TemplateException(
              "%s cannot be in %s".formatted(item.repr(), container.repr()));
    };
  }

  static int order(TemplateValue left, TemplateValue right) {
    if (left instanceof TemplateValue.Text(String a)
        && right instanceof TemplateValue.Text(String b)) {
      return a.compareTo(b);
    }
    if (left.isNumber() && right.isNumber()) {
      return Double.compare(left.number(), right.number());
    }
    throw new TemplateException("%s and %s have no order".formatted(left.repr(), right.repr()));
  }
}
