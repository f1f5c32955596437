package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A value in any notation is that value, and no value near it. */
class NotationsTest {
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void verify_fractionInAnyNotation_isThatFractionOnly(long seed) {
    Random random = new Random(seed);
    int top = 1 + random.nextInt(9_999);
    int bottom = List.of(1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 20, 25).get(random.nextInt(12));
    int sign = random.nextBoolean() ? 1 : -1;
    String gold = fraction(sign * top, bottom, random.nextInt(9));
    assertPaid(gold, fraction(sign * top, bottom, random.nextInt(9)), true);
    assertPaid(gold, fraction(sign * top + 1, bottom, random.nextInt(9)), false);
    assertPaid(gold, fraction(-sign * top, bottom, random.nextInt(9)), false);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void verify_polynomialInAnyNotation_isThatPolynomialOnly(long seed) {
    Random random = new Random(seed);
    int a = 2 + random.nextInt(8);
    int b = 1 + random.nextInt(9);
    int c = 1 + random.nextInt(9);
    String x = random.nextBoolean() ? "x" : "t";
    String gold = quadratic(a, b, c, x, random.nextInt(6));
    assertPaid(gold, quadratic(a, b, c, x, random.nextInt(6)), true);
    assertPaid(gold, quadratic(a, b, c + 1, x, random.nextInt(6)), false);
    assertPaid(gold, quadratic(a, -b, c, x, random.nextInt(6)), false);
    assertPaid(gold, quadratic(a, b, c, "y", random.nextInt(6)), false);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void verify_intervalInAnyNotation_isThatIntervalOnly(long seed) {
    Random random = new Random(seed);
    int low = random.nextInt(40) - 20;
    int high = low + 1 + random.nextInt(20);
    boolean closedLow = random.nextBoolean();
    boolean closedHigh = random.nextBoolean();
    String gold = interval(low, closedLow, high, closedHigh, random.nextInt(7));
    assertPaid(gold, interval(low, closedLow, high, closedHigh, random.nextInt(7)), true);
    assertPaid(gold, interval(low, !closedLow, high, closedHigh, random.nextInt(7)), false);
    assertPaid(gold, interval(low, closedLow, high + 1, closedHigh, random.nextInt(7)), false);
  }

  private static String fraction(int top, int bottom, int notation) {
    String minus = top < 0 ? "-" : "";
    int size = Math.abs(top);
    BigInteger common = BigInteger.valueOf(size).gcd(BigInteger.valueOf(bottom));
    int n = size / common.intValue();
    int d = bottom / common.intValue();
    return switch (notation) {
      case 0 -> minus + "\\frac{%d}{%d}".formatted(n, d);
      case 1 -> minus + "\\dfrac{%d}{%d}".formatted(3 * n, 3 * d);
      case 2 -> "%d/%d".formatted(top, bottom);
      case 3 -> "x = " + minus + "{%d \\over %d}".formatted(n, d);
      case 4 -> minus.replace('-', '\u2212') + "\\tfrac{%d}{%d}\\text{ units}".formatted(n, d);
      case 5 ->
          d > 1 && n > d
              ? minus + "%d\\frac{%d}{%d}".formatted(n / d, n % d, d)
              : minus + n + "/" + d;
      case 6 -> minus + decimal(n, d);
      case 7 -> "\\color{blue}{%s\\frac{%d}{%d}}".formatted(minus, n, d);
      default -> "\\frac{%d}{%d}".formatted(-top, -bottom);
    };
  }

  private static String decimal(int n, int d) {
    try {
      return new BigDecimal(n).divide(new BigDecimal(d)).toPlainString();
    } catch (ArithmeticException _) {
      StringBuilder digits = new StringBuilder().append(n / d).append('.');
      List<Integer> seen = new java.util.ArrayList<>();
      int rest = n % d;
      while (!seen.contains(rest)) {
        seen.add(rest);
        digits.append(10 * rest / d);
        rest = 10 * rest % d;
      }
      int period = digits.length() - seen.size() + seen.indexOf(rest);
      return digits.substring(0, period) + "\\overline{" + digits.substring(period) + "}";
    }
  }

  private static String quadratic(int a, int b, int c, String x, int notation) {
    return switch (notation) {
      case 0 -> "%d%s^2%+d%s%+d".formatted(a, x, b, x, c);
      case 1 -> "%d %s^{2} + (%d)\\cdot %s + %d".formatted(a, x, b, x, c);
      case 2 -> "%d%s²%+d%s%+d".formatted(a, x, b, x, c);
      case 3 -> "%s(%d%s%+d)%+d".formatted(x, a, x, b, c);
      case 4 -> "%d%+d%s+%d%s*%s".formatted(c, b, x, a, x, x);
      default -> "\\frac{%d%s^2%+d%s%+d}{2}".formatted(2 * a, x, 2 * b, x, 2 * c);
    };
  }

  private static String interval(
      int low, boolean closedLow, int high, boolean closedHigh, int notation) {
    String less = closedLow ? "\\le" : "<";
    String most = closedHigh ? "\\leq" : "<";
    String open = closedLow ? "[" : "(";
    String close = closedHigh ? "]" : ")";
    return switch (notation) {
      case 0 -> "%s%d,%d%s".formatted(open, low, high, close);
      case 1 -> "\\left%s %d, %d \\right%s".formatted(open, low, high, close);
      case 2 -> "%d %s x %s %d".formatted(low, less, most, high);
      case 3 -> "x \\in %s%d;%d%s".formatted(open, low, high, close);
      case 4 -> "\\{x \\mid %d %s x %s %d\\}".formatted(low, less, most, high);
      case 5 ->
          "x %s %d \\text{ and } x %s %d".formatted(closedLow ? "\\ge" : ">", low, most, high);
      default -> "%s%d,%d%s".formatted(closedLow ? "[" : "]", low, high, closedHigh ? "]" : "[");
    };
  }

  private static void assertPaid(String gold, String answer, boolean right) {
    Prompt prompt = new Prompt(new PromptId("p"), "s", "t", gold, "");
    Verdict.Scored verdict =
        (Verdict.Scored) MathVerifier.training().verify(prompt, "\\boxed{%s}".formatted(answer));
    assertThat(verdict.passed()).as("%s beside %s: %s", answer, gold, verdict).isEqualTo(right);
  }
}
