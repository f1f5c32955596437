package io.troupe.core.loss;

import io.troupe.core.advantage.AdvantageFunction;
import io.troupe.core.advantage.AdvantageRule;
import io.troupe.core.loss.LossFunction.Surrogates;
import io.troupe.core.loss.ScalarLoss.Token;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * Whether a user's own loss or advantages can be trained with, on random input: shapes, finite
 * numbers, the same answer twice, and the derivatives of a loss against central differences.
 *
 * <p>Where a surrogate has a kink within the difference, any number between the differences of its
 * two sides is a derivative.
 */
public final class LossCheck {
  private static final int SEEDS = 200;
  private static final double STEP = 1e-6;
  private static final double TOLERANCE = 1e-4;

  private final String name;
  private final LossFunction loss;

  private LossCheck(String name, LossFunction loss) {
    this.name = name;
    this.loss = loss;
  }

  /**
   * Checks a loss on random sequences.
   *
   * @param name that the sentence calls it
   * @return the first fault, in a sentence
   */
  public static Optional<String> fault(String name, LossFunction loss) {
    LossCheck check = new LossCheck(name, loss);
    boolean moves = false;
    for (long seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      double advantage = 2 * random.nextGaussian();
      List<Token> tokens = tokens(random, 1 + random.nextInt(6));
      try {
        Surrogates first = check.of(advantage, tokens);
        Surrogates second = check.of(advantage, tokens);
        if (!Arrays.equals(first.values(), second.values())
            || !Arrays.equals(first.derivatives(), second.derivatives())) {
          return Optional.of(name + " gives the same tokens other surrogates the second time");
        }
        Optional<String> wrong = check.derivatives(seed, advantage, tokens, first.derivatives());
        if (wrong.isPresent()) {
          return wrong;
        }
        moves |= Arrays.stream(first.derivatives()).anyMatch(derivative -> derivative != 0);
      } catch (RuntimeException failure) {
        return Optional.of(failed(name, failure));
      }
    }
    return moves ? check.direction() : Optional.of(name + " has no derivative other than 0");
  }

  /**
   * Checks advantages on the rewards of random steps.
   *
   * @return the first fault, in a sentence
   */
  public static Optional<String> advantageFault(String name, AdvantageFunction function) {
    AdvantageRule.Own own = new AdvantageRule.Own(name, function);
    for (long seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      List<double[]> rewards = new ArrayList<>();
      List<int[]> lengths = new ArrayList<>();
      for (int group = random.nextInt(5); group >= 0; group--) {
        int completions = 1 + random.nextInt(6);
        boolean binary = random.nextBoolean();
        rewards.add(
            random
                .doubles(completions, 0, 1)
                .map(reward -> binary ? Math.rint(reward) : reward)
                .toArray());
        lengths.add(random.ints(completions, 1, 100).toArray());
      }
      try {
        if (!Arrays.deepEquals(
            own.of(rewards, lengths).toArray(), own.of(rewards, lengths).toArray())) {
          return Optional.of(name + " gives the same rewards other advantages the second time");
        }
      } catch (RuntimeException failure) {
        return Optional.of(failed(name, failure));
      }
    }
    return Optional.empty();
  }

  private static String failed(String name, RuntimeException failure) {
    String message = String.valueOf(failure.getMessage());
    return failure instanceof IllegalArgumentException && message.startsWith(name)
        ? message
        : "%s failed: %s".formatted(name, failure);
  }

  private Surrogates of(double advantage, List<Token> tokens) {
    return new Objective.Own(name, loss).of(advantage, tokens);
  }

  private static List<Token> tokens(Random random, int count) {
    List<Token> tokens = new ArrayList<>();
    for (int t = 0; t < count; t++) {
      double now = -3 * random.nextDouble() - 1e-3;
      double behaviour = Math.min(now + .4 * random.nextGaussian(), -1e-3);
      double reference = Math.min(now + .4 * random.nextGaussian(), -1e-3);
      tokens.add(new Token(now, now, behaviour, reference, random.nextInt(3)));
    }
    return tokens;
  }

  private Optional<String> derivatives(
      long seed, double advantage, List<Token> tokens, double[] derivatives) {
    double here = sum(advantage, tokens);
    for (int t = 0; t < derivatives.length; t++) {
      double right = (sum(advantage, moved(tokens, t, STEP)) - here) / STEP;
      double left = (here - sum(advantage, moved(tokens, t, -STEP))) / STEP;
      double given = derivatives[t];
      double slack = TOLERANCE * (1 + Math.abs(given));
      if (given < Math.min(left, right) - slack || given > Math.max(left, right) + slack) {
        return Optional.of(
            "%s says that the derivative by log p of token %d of %d is %s, but the difference is %s; advantage %s, %s, seed %d"
                .formatted(
                    name,
                    t,
                    derivatives.length,
                    given,
                    (left + right) / 2,
                    advantage,
                    tokens.get(t),
                    seed));
      }
    }
    return Optional.empty();
  }

  /**
   * Checks the sign of the derivative of a token at its sampler's log-probability, whose completion
   * was good.
   */
  private Optional<String> direction() {
    double sum = Arrays.stream(of(1, List.of(new Token(-1, -1, -1, -1, 0))).derivatives()).sum();
    return sum > 0
        ? Optional.empty()
        : Optional.of(
            "%s makes a token of advantage 1 less likely: its derivative at p = q is %s; surrogates are maximised, so change the sign"
                .formatted(name, sum));
  }

  private double sum(double advantage, List<Token> tokens) {
    return Arrays.stream(of(advantage, tokens).values()).sum();
  }

  private static List<Token> moved(List<Token> tokens, int t, double by) {
    List<Token> moved = new ArrayList<>(tokens);
    Token old = tokens.get(t);
    moved.set(
        t,
        new Token(
            old.logProb() + by,
            old.stepStartLogProb(),
            old.behaviourLogProb(),
            old.referenceLogProb(),
            old.staleness()));
    return moved;
  }
}
