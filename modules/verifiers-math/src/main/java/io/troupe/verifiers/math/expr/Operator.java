package io.troupe.verifiers.math.expr;

import java.util.Map;
import java.util.Optional;

/** An operation that combines scalars into a scalar. */
public enum Operator {
  ADD,
  NEGATE,
  MULTIPLY,
  DIVIDE,
  POWER,
  /** The radicand, then the degree. */
  ROOT,
  PLUS_OR_MINUS,
  MINUS_OR_PLUS,
  ABSOLUTE,
  FLOOR,
  CEILING,
  FACTORIAL,
  DOUBLE_FACTORIAL,
  BINOMIAL,
  /** {@code \operatorname{cis}}: cosine and i times sine. */
  CIS,
  CONJUGATE,
  /** An angle in degrees, as radians. */
  DEGREES,
  /** A hundredth, inside of an expression. */
  PERCENT,
  EXP,
  LN,
  /** A logarithm of no stated base: ten or e, as the comparison says. */
  LOG,
  /** The base, then the argument. */
  LOG_BASE,
  SIN,
  COS,
  TAN,
  COT,
  SEC,
  CSC,
  ARCSIN,
  ARCCOS,
  ARCTAN,
  SINH,
  COSH,
  TANH,
  ARSINH,
  ARCOSH,
  ARTANH,
  GCD,
  LCM,
  MAX,
  MIN;

  private static final Map<String, Operator> FUNCTIONS =
      Map.ofEntries(
          Map.entry("exp", EXP),
          Map.entry("cis", CIS),
          Map.entry("conjugate", CONJUGATE),
          Map.entry("ln", LN),
          Map.entry("log", LOG),
          Map.entry("lg", LOG),
          Map.entry("sin", SIN),
          Map.entry("cos", COS),
          Map.entry("tan", TAN),
          Map.entry("cot", COT),
          Map.entry("sec", SEC),
          Map.entry("csc", CSC),
          Map.entry("arcsin", ARCSIN),
          Map.entry("arccos", ARCCOS),
          Map.entry("arctan", ARCTAN),
          Map.entry("asin", ARCSIN),
          Map.entry("acos", ARCCOS),
          Map.entry("atan", ARCTAN),
          Map.entry("sinh", SINH),
          Map.entry("cosh", COSH),
          Map.entry("tanh", TANH),
          Map.entry("arsinh", ARSINH),
          Map.entry("arcsinh", ARSINH),
          Map.entry("asinh", ARSINH),
          Map.entry("arcosh", ARCOSH),
          Map.entry("arccosh", ARCOSH),
          Map.entry("acosh", ARCOSH),
          Map.entry("artanh", ARTANH),
          Map.entry("arctanh", ARTANH),
          Map.entry("atanh", ARTANH),
          Map.entry("abs", ABSOLUTE),
          Map.entry("floor", FLOOR),
          Map.entry("ceil", CEILING),
          Map.entry("gcd", GCD),
          Map.entry("lcm", LCM),
          Map.entry("max", MAX),
          Map.entry("min", MIN));

  /** The function of that name, with or without the backslash. */
  public static Optional<Operator> function(String name) {
    return Optional.ofNullable(FUNCTIONS.get(name));
  }

  public boolean takesList() {
    return this == GCD || this == LCM || this == MAX || this == MIN;
  }

  public boolean isPlusMinus() {
    return this == PLUS_OR_MINUS || this == MINUS_OR_PLUS;
  }

  /** Returns the inverse function, for {@code \sin^{-1}}. */
  public Optional<Operator> inverse() {
    return switch (this) {
      case SIN -> Optional.of(ARCSIN);
      case COS -> Optional.of(ARCCOS);
      case TAN -> Optional.of(ARCTAN);
      case SINH -> Optional.of(ARSINH);
      case COSH -> Optional.of(ARCOSH);
      case TANH -> Optional.of(ARTANH);
      default -> Optional.empty();
    };
  }

  /** Whether its real domain is a part of the line, so that complex points say nothing. */
  public boolean isBranched() {
    return switch (this) {
      case ROOT,
          ABSOLUTE,
          FLOOR,
          CEILING,
          FACTORIAL,
          DOUBLE_FACTORIAL,
          BINOMIAL,
          CONJUGATE,
          LN,
          LOG,
          LOG_BASE,
          ARCSIN,
          ARCCOS,
          ARCTAN,
          ARSINH,
          ARCOSH,
          ARTANH,
          GCD,
          LCM,
          MAX,
          MIN ->
          true;
      default -> false;
    };
  }
}
