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
 * 37+45=} and is answered {@code 82}. With an addend, {@code add-37-45-12} asks {@code 37+45+12=}.
 *
 * <p>A prompt's answer is the number exactly as the policy must write it (padded, reversed), and
 * its solution is the same; in a share of the solutions calls of tools come before it: of the
 * calculator, or of one tool for each operation of two.
 */
final class ArithmeticPrompts {
  /** The operation of a third number. */
  private static final Operation ADDED = Operation.ADDITION;

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
    String asked = settings.addend() ? digits + ADDED.sign() : digits;
    return settings.calculatorShare() > 0
        ? asked
            + "-"
            + InlineFormat.call(tools(), InlineFormat.result(""))
            + CalculatorProvider.ERROR
        : asked;
  }

  private String tools() {
    return settings.addend() ? settings.operation().key() + ADDED.key() : CalculatorProvider.TOOL;
  }

  private DataItem item(int a, int b) {
    Operation operation = settings.operation();
    String pair = operation.key() + "-" + a + "-" + b;
    String expression = padded(a) + operation.sign() + padded(b);
    long result = operation.apply(a, b);
    if (!settings.addend()) {
      String answer = written(result);
      String calls = called(CalculatorProvider.TOOL, expression, result);
      return DataItem.of(pair, expression + "=", answer, (calls(pair) ? calls : "") + answer);
    }
    int third = third(pair);
    String answer = written(result + third);
    String calls =
        called(operation.key(), expression, result)
            + called(ADDED.key(), "" + result + ADDED.sign() + padded(third), result + third);
    return DataItem.of(
        pair + "-" + third,
        expression + ADDED.sign() + padded(third) + "=",
        answer,
        (calls(pair) ? calls : "") + answer);
  }

  /** The third number of a pair; the same on every machine. */
  private int third(String pair) {
    long draw = SplitMix64.mix(SplitMix64.mix(pair.hashCode()));
    return settings.min() + Math.floorMod(draw, settings.max() - settings.min() + 1);
  }

  /** Whether the solution of a pair calls tools. */
  private boolean calls(String pair) {
    double draw = (SplitMix64.mix(pair.hashCode()) >>> 11) * 0x1p-53;
    return draw < settings.calculatorShare();
  }

  /** A call of a tool and its result. */
  private static String called(String tool, String expression, long result) {
    return InlineFormat.call(tool, expression) + InlineFormat.result(Long.toString(result));
  }

  private String padded(int operand) {
    StringBuilder text = new StringBuilder();
    appendPadded(text, operand, operandWidth);
    return text.toString();
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
    long result =
        switch (settings.operation()) {
          case ADDITION, MULTIPLICATION ->
              settings.operation().apply(settings.max(), settings.max());
          case SUBTRACTION -> settings.max() - settings.min();
        };
    return settings.addend() ? result + settings.max() : result;
  }

  private static int width(long number) {
    return Long.toString(number).length();
  }
}
