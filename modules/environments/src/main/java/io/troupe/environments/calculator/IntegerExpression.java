package io.troupe.environments.calculator;

import java.math.BigInteger;
import java.util.Optional;

/**
 * An expression of whole numbers, as a recursive descent over
 *
 * <pre>
 *   sum     = product (('+' | '-') product)*
 *   product = factor ('*' factor)*
 *   factor  = digits | '-' factor | '(' sum ')'
 * </pre>
 */
final class IntegerExpression {
  /** Longer texts and results are refused: a policy that repeats itself writes long ones. */
  private static final int LONGEST = 256;

  private final String text;
  private int at;

  private IntegerExpression(String text) {
    this.text = text;
  }

  /** The value of a text; empty if the text is no expression, or is too long. */
  static Optional<BigInteger> value(String text) {
    String dense = text.replace(" ", "");
    if (dense.isEmpty() || dense.length() > LONGEST) {
      return Optional.empty();
    }
    IntegerExpression expression = new IntegerExpression(dense);
    return expression.sum().filter(_ -> expression.at == dense.length());
  }

  private Optional<BigInteger> sum() {
    Optional<BigInteger> sum = product();
    while (sum.isPresent() && (next('+') || next('-'))) {
      boolean add = text.charAt(at++) == '+';
      BigInteger left = sum.get();
      sum = product().map(right -> add ? left.add(right) : left.subtract(right));
    }
    return sum;
  }

  private Optional<BigInteger> product() {
    Optional<BigInteger> product = factor();
    while (product.isPresent() && next('*')) {
      at++;
      product = product.flatMap(left -> factor().map(left::multiply));
    }
    return product;
  }

  private Optional<BigInteger> factor() {
    if (next('-')) {
      at++;
      return factor().map(BigInteger::negate);
    }
    if (next('(')) {
      at++;
      Optional<BigInteger> inner = sum();
      return inner.filter(_ -> next(')') && at++ >= 0);
    }
    int from = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    return at == from ? Optional.empty() : Optional.of(new BigInteger(text.substring(from, at)));
  }

  private boolean next(char expected) {
    return at < text.length() && text.charAt(at) == expected;
  }
}
