package io.troupe.tasks;

import io.troupe.core.SplitMix64;
import io.troupe.environments.calculator.CalculatorProvider;
import io.troupe.environments.format.InlineFormat;
import io.troupe.tasks.ArithmeticSettings.Operation;
import io.troupe.tasks.sets.DataItem;
import java.util.ArrayList;
import java.util.List;

/**
 * All ordered pairs of numbers of a range, under one operation: {@code add-37-45} asks {@code
 * 37+45=} and is answered {@code 82}.
 *
 * <p>A prompt's answer is the number exactly as the policy must write it (padded, reversed), and
 * its solution is the same; in a share of the solutions a call of the calculator comes before it.
 */
final class ArithmeticPrompts {
  private final ArithmeticSettings settings;
  private final int operandWidth;
  private final int answerWidth;

  /** Makes all prompts; the same settings make the same prompts in the same order. */
  ArithmeticPrompts(ArithmeticSettings settings) {
    this.settings = settings;
    this.operandWidth = settings.padded() ? width(settings.max()) : 1;
    this.answerWidth = settings.padded() ? width(greatestAnswer(settings)) : 1;
  }

  /** Returns all pairs; the second operand changes fastest. */
  List<DataItem> items() {
    List<DataItem> items = new ArrayList<>();
    for (int a = settings.min(); a <= settings.max(); a++) {
      for (int b = settings.min(); b <= settings.max(); b++) {
        items.add(item(a, b));
      }
    }
    return items;
  }

  /** Returns all ten digits, even if a narrow range needs fewer, the operation's sign, and "=". */
  String alphabet() {
    String digits = settings.operation().sign() + "0123456789=";
    return settings.calculatorShare() > 0
        ? digits
            + "-"
            + InlineFormat.call(CalculatorProvider.TOOL, InlineFormat.result(""))
            + CalculatorProvider.ERROR
        : digits;
  }

  private DataItem item(int a, int b) {
    Operation operation = settings.operation();
    StringBuilder text = new StringBuilder();
    appendPadded(text, a, operandWidth);
    text.append(operation.sign());
    appendPadded(text, b, operandWidth);
    text.append('=');
    String answer = written(operation.apply(a, b));
    String id = operation.key() + "-" + a + "-" + b;
    String question = text.toString();
    return DataItem.of(id, question, answer, demonstration(id, question, a, b) + answer);
  }

  /** A call of the calculator and its result, in the solutions that have one. */
  private String demonstration(String id, String question, int a, int b) {
    double draw = (SplitMix64.mix(id.hashCode()) >>> 11) * 0x1p-53;
    if (draw >= settings.calculatorShare()) {
      return "";
    }
    String expression = question.substring(0, question.length() - 1);
    return InlineFormat.call(CalculatorProvider.TOOL, expression)
        + InlineFormat.result(Long.toString(settings.operation().apply(a, b)));
  }

  private String written(long number) {
    StringBuilder digits = new StringBuilder();
    appendPadded(digits, Math.abs(number), answerWidth);
    if (settings.reversed()) {
      digits.reverse();
    }
    return number < 0 ? "-" + digits : digits.toString();
  }

  private static void appendPadded(StringBuilder text, long number, int width) {
    String digits = Long.toString(number);
    text.repeat('0', Math.max(0, width - digits.length())).append(digits);
  }

  private static long greatestAnswer(ArithmeticSettings settings) {
    return switch (settings.operation()) {
      case ADDITION, MULTIPLICATION -> settings.operation().apply(settings.max(), settings.max());
      case SUBTRACTION -> settings.max() - settings.min();
    };
  }

  private static int width(long number) {
    return Long.toString(number).length();
  }
}
