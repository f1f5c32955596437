package io.troupe.verifiers.math.value;

import io.troupe.verifiers.math.expr.Rational;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.UnresolvedException;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** A polynomial with rational coefficients. The map holds no zero coefficient. */
public record Polynomial(Map<Monomial, Rational> terms) {
  private static final int MOST_TERMS = 400;
  private static final int MOST_DEGREE = 200;

  public static final Polynomial ZERO = new Polynomial(Map.of());
  public static final Polynomial ONE = of(Rational.ONE);

  /** Names with their positive exponents. */
  public record Monomial(Map<String, Integer> exponents) {
    static final Monomial ONE = new Monomial(Map.of());

    Monomial times(Monomial other) {
      Map<String, Integer> product = new TreeMap<>(exponents);
      other.exponents.forEach((name, exponent) -> product.merge(name, exponent, Integer::sum));
      return new Monomial(product);
    }

    private int degree() {
      return exponents.values().stream().mapToInt(Integer::intValue).sum();
    }
  }

  public static Polynomial of(Rational constant) {
    return constant.signum() == 0 ? ZERO : new Polynomial(Map.of(Monomial.ONE, constant));
  }

  public static Polynomial of(String name) {
    return new Polynomial(Map.of(new Monomial(Map.of(name, 1)), Rational.ONE));
  }

  /** The number that this is, if it is one. */
  Optional<Rational> constant() {
    boolean one = terms.size() == 1 && terms.containsKey(Monomial.ONE);
    return one ? Optional.of(coefficient(this, Monomial.ONE)) : Optional.empty();
  }

  /** The coefficients {@code a, b} of {@code ax + b} with a ≠ 0, if this is that. */
  public Optional<List<Rational>> linear(String variable) {
    Monomial x = new Monomial(Map.of(variable, 1));
    boolean only = terms.keySet().stream().allMatch(m -> m.equals(x) || m.equals(Monomial.ONE));
    return only && terms.containsKey(x)
        ? Optional.of(List.of(coefficient(this, x), coefficient(this, Monomial.ONE)))
        : Optional.empty();
  }

  public boolean isZero() {
    return terms.isEmpty();
  }

  public Polynomial plus(Polynomial other, StepBudget budget) {
    Map<Monomial, Rational> sum = new HashMap<>(terms);
    other.terms.forEach((monomial, value) -> add(sum, monomial, value, budget));
    return checked(sum);
  }

  public Polynomial negate() {
    Map<Monomial, Rational> negated = new HashMap<>();
    terms.forEach((monomial, value) -> negated.put(monomial, value.negate()));
    return new Polynomial(negated);
  }

  public Polynomial times(Polynomial other, StepBudget budget) {
    budget.spend(20L * terms.size() * other.terms.size());
    Map<Monomial, Rational> product = new HashMap<>();
    terms.forEach(
        (left, a) ->
            other.terms.forEach(
                (right, b) -> add(product, left.times(right), a.times(b, budget), budget)));
    return checked(product);
  }

  public Polynomial power(BigInteger exponent, StepBudget budget) {
    if (exponent.bitLength() > 8) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    Polynomial result = ONE;
    for (int i = 0; i < exponent.intValue(); i++) {
      result = result.times(this, budget);
    }
    return result;
  }

  /**
   * Whether this polynomial is the other times a non-zero constant, which is positive if so
   * required.
   */
  public boolean isMultipleOf(Polynomial other, boolean positive, StepBudget budget) {
    if (isZero() || !terms.keySet().equals(other.terms.keySet())) {
      return false;
    }
    Map.Entry<Monomial, Rational> any = terms.entrySet().iterator().next();
    Rational factor = any.getValue().over(coefficient(other, any.getKey()), budget);
    return (!positive || factor.signum() > 0)
        && terms.entrySet().stream()
            .allMatch(
                term ->
                    coefficient(other, term.getKey())
                        .times(factor, budget)
                        .equals(term.getValue()));
  }

  private static Rational coefficient(Polynomial polynomial, Monomial monomial) {
    return polynomial.terms.getOrDefault(monomial, Rational.ZERO);
  }

  private static void add(
      Map<Monomial, Rational> terms, Monomial monomial, Rational value, StepBudget budget) {
    Rational sum = terms.getOrDefault(monomial, Rational.ZERO).plus(value, budget);
    if (sum.signum() == 0) {
      terms.remove(monomial);
    } else {
      terms.put(monomial, sum);
    }
  }

  private static Polynomial checked(Map<Monomial, Rational> terms) {
    if (terms.size() > MOST_TERMS
        || terms.keySet().stream().anyMatch(monomial -> monomial.degree() > MOST_DEGREE)) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    return new Polynomial(terms);
  }
}
