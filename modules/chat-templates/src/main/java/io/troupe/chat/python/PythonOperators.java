package io.troupe.chat.python;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Operators between two values, with Python's meaning. */
public final class PythonOperators {
  /** Bounds of what a template may make of a few characters. */
  private static final int MOST_BITS = 14_000;

  private static final int MOST_REPEATED = 10_000_000;

  private PythonOperators() {}

  public static TemplateValue apply(String operator, TemplateValue left, TemplateValue right) {
    if (operator.equals("~")) {
      return new TemplateValue.Text(left.text() + right.text());
    }
    if (left.isNumber() && right.isNumber()) {
      return left instanceof TemplateValue.Real || right instanceof TemplateValue.Real
          ? new TemplateValue.Real(reals(operator, left.number(), right.number()))
          : wholes(operator, left.whole(), right.whole());
    }
    if (operator.equals("+")) {
      if (left instanceof TemplateValue.Text(String a)
          && right instanceof TemplateValue.Text(String b)) {
        return new TemplateValue.Text(a + b);
      }
      if (left instanceof TemplateValue.Seq(var a) && right instanceof TemplateValue.Seq(var b)) {
        return new TemplateValue.Seq(joined(a, b));
      }
      if (left instanceof TemplateValue.Tuple(var a)
          && right instanceof TemplateValue.Tuple(var b)) {
        return new TemplateValue.Tuple(joined(a, b));
      }
    }
    if (operator.equals("*") && (left.isWhole() || right.isWhole())) {
      return left.isWhole() ? repeated(right, left) : repeated(left, right);
    }
    if (operator.equals("%") && left instanceof TemplateValue.Text(String format)) {
      return new TemplateValue.Text(PercentFormat.of(format, right));
    }
    throw unfit(operator, left, right);
  }

  private static TemplateException unfit(String operator, TemplateValue left, TemplateValue right) {
    return new TemplateException(
        "'%s' does not go between %s and %s"
            .formatted(operator, left.shortened(), right.shortened()));
  }

  private static List<TemplateValue> joined(List<TemplateValue> a, List<TemplateValue> b) {
    List<TemplateValue> both = new ArrayList<>(a);
    both.addAll(b);
    return both;
  }

  private static TemplateValue repeated(TemplateValue what, TemplateValue times) {
    int count = Math.max(0, times.index());
    boolean sequence =
        what instanceof TemplateValue.Text
            || what instanceof TemplateValue.Seq
            || what instanceof TemplateValue.Tuple;
    if (!sequence) {
      throw unfit("*", what, times);
    }
    if ((long) count * Math.max(1, what.length()) > MOST_REPEATED) {
      throw new TemplateException("a template repeats nothing %d times".formatted(count));
    }
    if (what instanceof TemplateValue.Text(String text)) {
      return new TemplateValue.Text(text.repeat(count));
    }
    List<TemplateValue> items = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      items.addAll(what.items());
    }
    return what instanceof TemplateValue.Seq
        ? new TemplateValue.Seq(items)
        : new TemplateValue.Tuple(items);
  }

  /** {@code -value}. */
  public static TemplateValue negative(TemplateValue value) {
    return switch (value) {
      case TemplateValue.Real(double number) -> new TemplateValue.Real(-number);
      default -> new TemplateValue.Int(value.whole().negate());
    };
  }

  /** {@code +value}. */
  public static TemplateValue positive(TemplateValue value) {
    return value instanceof TemplateValue.Real ? value : new TemplateValue.Int(value.whole());
  }

  private static double reals(String operator, double a, double b) {
    if (b == 0 && (operator.equals("/") || operator.equals("//") || operator.equals("%"))) {
      throw new TemplateException("a division by 0");
    }
    return switch (operator) {
      case "+" -> a + b;
      case "-" -> a - b;
      case "*" -> a * b;
      case "/" -> a / b;
      case "//" -> floored(a, b);
      case "%" -> remainder(a, b);
      case "**" -> power(a, b);
      default -> throw new TemplateException("no operator '%s'".formatted(operator));
    };
  }

  private static double remainder(double a, double b) {
    double rest = a % b;
    if (rest == 0) {
      return Math.copySign(0, b);
    }
    return (b < 0) == (rest < 0) ? rest : rest + b;
  }

  /** CPython's floor division, which goes by the exact remainder. */
  private static double floored(double a, double b) {
    double rest = a % b;
    double quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) {
      quotient -= 1;
    }
    if (quotient == 0) {
      return Math.copySign(0, a / b);
    }
    double floor = Math.floor(quotient);
    return quotient - floor > 0.5 ? floor + 1 : floor;
  }

  private static double power(double a, double b) {
    double power = Math.pow(a, b);
    boolean finite = Double.isFinite(a) && Double.isFinite(b);
    if (finite && !Double.isFinite(power)) {
      throw new TemplateException("%s ** %s is no float".formatted(a, b));
    }
    return power;
  }

  private static TemplateValue wholes(String operator, BigInteger a, BigInteger b) {
    if (b.signum() == 0
        && (operator.equals("/") || operator.equals("//") || operator.equals("%"))) {
      throw new TemplateException("a division by 0");
    }
    return switch (operator) {
      case "+" -> bounded(a.add(b));
      case "-" -> bounded(a.subtract(b));
      case "*" -> bounded(a.multiply(b));
      case "/" -> quotient(a, b);
      case "//" -> new TemplateValue.Int(floorDivided(a, b));
      case "%" -> new TemplateValue.Int(a.subtract(floorDivided(a, b).multiply(b)));
      case "**" -> power(a, b);
      default -> throw new TemplateException("no operator '%s'".formatted(operator));
    };
  }

  private static TemplateValue bounded(BigInteger value) {
    if (value.bitLength() > MOST_BITS) {
      throw new TemplateException("a whole number of more than 4,200 digits");
    }
    return new TemplateValue.Int(value);
  }

  private static TemplateValue quotient(BigInteger a, BigInteger b) {
    double quotient =
        new BigDecimal(a).divide(new BigDecimal(b), new MathContext(60)).doubleValue();
    if (Double.isInfinite(quotient)) {
      throw new TemplateException("a quotient too large for a float");
    }
    return new TemplateValue.Real(quotient);
  }

  private static BigInteger floorDivided(BigInteger a, BigInteger b) {
    BigInteger[] parts = a.divideAndRemainder(b);
    boolean below = parts[1].signum() != 0 && parts[1].signum() != b.signum();
    return below ? parts[0].subtract(BigInteger.ONE) : parts[0];
  }

  private static TemplateValue power(BigInteger a, BigInteger b) {
    if (b.signum() < 0) {
      if (a.signum() == 0) {
        throw new TemplateException("a division by 0");
      }
      return new TemplateValue.Real(power(a.doubleValue(), b.doubleValue()));
    }
    if (a.abs().compareTo(BigInteger.ONE) <= 0) {
      return new TemplateValue.Int(b.signum() == 0 ? BigInteger.ONE : b.testBit(0) ? a : a.abs());
    }
    boolean large = b.bitLength() > 14 || (long) a.bitLength() * b.intValue() > 4L * MOST_BITS;
    if (large) {
      throw new TemplateException("a whole number of more than 4,200 digits");
    }
    return bounded(a.pow(b.intValue()));
  }

  /** A comparison operator; {@code in} is one. */
  public static boolean compare(String operator, TemplateValue left, TemplateValue right) {
    return switch (operator) {
      case "==" -> same(left, right);
      case "!=" -> !same(left, right);
      case "in" -> contains(right, left);
      case "not in" -> !contains(right, left);
      default -> ordered(operator, order(left, right));
    };
  }

  private static boolean ordered(String operator, OptionalInt order) {
    return order.isPresent()
        && switch (operator) {
          case "<" -> order.getAsInt() < 0;
          case "<=" -> order.getAsInt() <= 0;
          case ">" -> order.getAsInt() > 0;
          case ">=" -> order.getAsInt() >= 0;
          default -> throw new TemplateException("no comparison '%s'".formatted(operator));
        };
  }

  /** Python's {@code ==}: numbers and booleans compare by value, functions by identity. */
  @SuppressWarnings("ReferenceEquality")
  public static boolean same(TemplateValue a, TemplateValue b) {
    if (a.isNumber() && b.isNumber()) {
      OptionalInt order = order(a, b);
      return order.isPresent() && order.getAsInt() == 0;
    }
    return switch (a) {
      case TemplateValue.Undefined _ -> b instanceof TemplateValue.Undefined;
      case TemplateValue.Text _, TemplateValue.Markup _ ->
          (b instanceof TemplateValue.Text || b instanceof TemplateValue.Markup)
              && a.text().equals(b.text());
      case TemplateValue.Seq(var mine) ->
          b instanceof TemplateValue.Seq(var theirs) && same(mine, theirs);
      case TemplateValue.Tuple(var mine) ->
          b instanceof TemplateValue.Tuple(var theirs) && same(mine, theirs);
      case TemplateValue.Dict mine ->
          b instanceof TemplateValue.Dict theirs
              && mine.entries().size() == theirs.entries().size()
              && mine.entries().entrySet().stream().allMatch(entry -> has(theirs, entry));
      case TemplateValue.View _ ->
          throw new TemplateException("%s cannot be compared".formatted(a.shortened()));
      case TemplateValue.None _ -> b instanceof TemplateValue.None;
      default -> a == b;
    };
  }

  private static boolean same(List<TemplateValue> a, List<TemplateValue> b) {
    if (a.size() != b.size()) {
      return false;
    }
    for (int i = 0; i < a.size(); i++) {
      if (!same(a.get(i), b.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean has(
      TemplateValue.Dict dict, Map.Entry<TemplateValue, TemplateValue> entry) {
    TemplateValue value = dict.get(entry.getKey());
    return value != null && same(value, entry.getValue());
  }

  /** Python's {@code item in container}. */
  public static boolean contains(TemplateValue container, TemplateValue item) {
    return switch (container) {
      case TemplateValue.Text(String text) -> text.contains(item.string());
      case TemplateValue.Dict dict -> {
        hashable(item);
        yield dict.get(item) != null;
      }
      case TemplateValue.Seq(var items) -> items.stream().anyMatch(each -> same(each, item));
      case TemplateValue.Tuple(var items) -> items.stream().anyMatch(each -> same(each, item));
      case TemplateValue.View(_, var items, _) -> items.stream().anyMatch(each -> same(each, item));
      case TemplateValue.Stream(Iterator<TemplateValue> left) -> {
        while (left.hasNext()) {
          if (same(left.next(), item)) {
            yield true;
          }
        }
        yield false;
      }
      case TemplateValue.Undefined _ -> false;
      default ->
          throw new TemplateException(
              "%s cannot be in %s".formatted(item.shortened(), container.shortened()));
    };
  }

  /** Refuses what Python takes for no key. */
  static void hashable(TemplateValue key) {
    if (key instanceof TemplateValue.Seq || key instanceof TemplateValue.Dict) {
      throw new TemplateException("%s is no key".formatted(key.shortened()));
    }
  }

  /** The order of two values; absent if one of them is no number. */
  public static OptionalInt order(TemplateValue a, TemplateValue b) {
    if (a.isNumber() && b.isNumber()) {
      return numbers(a, b);
    }
    if (a instanceof TemplateValue.Text(String left)
        && b instanceof TemplateValue.Text(String right)) {
      return OptionalInt.of(
          Arrays.compare(left.codePoints().toArray(), right.codePoints().toArray()));
    }
    boolean lists = a instanceof TemplateValue.Seq && b instanceof TemplateValue.Seq;
    boolean tuples = a instanceof TemplateValue.Tuple && b instanceof TemplateValue.Tuple;
    if (lists || tuples) {
      List<TemplateValue> mine = a.items();
      List<TemplateValue> theirs = b.items();
      for (int i = 0; i < Math.min(mine.size(), theirs.size()); i++) {
        if (!same(mine.get(i), theirs.get(i))) {
          return order(mine.get(i), theirs.get(i));
        }
      }
      return OptionalInt.of(Integer.compare(mine.size(), theirs.size()));
    }
    throw new TemplateException("%s and %s have no order".formatted(a.shortened(), b.shortened()));
  }

  private static OptionalInt numbers(TemplateValue a, TemplateValue b) {
    boolean finite = finite(a) && finite(b);
    if (finite) {
      return OptionalInt.of(exact(a).compareTo(exact(b)));
    }
    double left = finite(a) ? 0 : a.number();
    double right = finite(b) ? 0 : b.number();
    return Double.isNaN(left) || Double.isNaN(right)
        ? OptionalInt.empty()
        : OptionalInt.of(Double.compare(left, right));
  }

  private static boolean finite(TemplateValue value) {
    return !(value instanceof TemplateValue.Real(double number)) || Double.isFinite(number);
  }

  private static BigDecimal exact(TemplateValue value) {
    return value instanceof TemplateValue.Real(double number)
        ? new BigDecimal(number)
        : new BigDecimal(value.whole());
  }
}
