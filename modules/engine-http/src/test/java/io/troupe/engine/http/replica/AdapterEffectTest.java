package io.troupe.engine.http.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AdapterEffectTest {
  private static final int TOKENS = 128;
  private static final int SEQUENCE = 16;

  /** What two computations of the same policy say of drawn tokens, and one of another policy. */
  private static final class World {
    private final Random random;

    /** Nats by which the server's arithmetic, and that of the run's engine, move a token. */
    private final double theirs;

    private final double own;
    private final double bias;
    private final double shared;
    private final int shape;

    /** What an adapter moves each token by. */
    private final double[] moves = new double[TOKENS];

    World(long seed) {
      random = new Random(seed);
      theirs = new double[] {1e-6, .01, .03, .06}[random.nextInt(4)];
      own = new double[] {1e-6, 1e-6, .01}[random.nextInt(3)];
      bias = new double[] {0, 0, .03, -.05}[random.nextInt(4)];
      shared = random.nextDouble() / 2;
      shape = random.nextInt(3);
      double size = Math.pow(10, -5 + 4.5 * random.nextDouble());
      for (int t = 0; t < TOKENS; t++) {
        double sign = random.nextDouble() < .7 ? 1 : -1; // training makes what is drawn likelier
        moves[t] = sign * size * Math.exp(random.nextGaussian() - .5);
      }
    }

    /** Errors of a given size, heavy-tailed in some worlds, and alike within a sequence. */
    private double[] errors(double size) {
      double[] errors = new double[TOKENS];
      double common = 0;
      for (int t = 0; t < TOKENS; t++) {
        common = t % SEQUENCE == 0 ? error() : common;
        errors[t] = size * (shared * common + (1 - shared) * error());
      }
      return errors;
    }

    private double error() {
      return switch (shape) {
        case 0 -> random.nextGaussian();
        case 1 -> (random.nextBoolean() ? 1 : -1) * Math.log(1 - random.nextDouble()); // Laplace
        default -> random.nextGaussian() / Math.sqrt(.2 + random.nextDouble()); // now and then far
      };
    }

    private AdapterEffect.Arithmetic arithmetic() {
      double[] errors = errors(theirs);
      double[] said = Arrays.stream(errors).map(error -> error + bias).toArray();
      return AdapterEffect.Arithmetic.of(said, errors(own));
    }

    /** What is told of a server that adds so many times the adapter. */
    AdapterEffect of(double part, AdapterEffect.Arithmetic arithmetic) {
      double[] errors = errors(theirs);
      double[] said = new double[TOKENS];
      for (int t = 0; t < TOKENS; t++) {
        said[t] = part * moves[t] + errors[t] + bias;
      }
      double[] with = errors(own);
      for (int t = 0; t < TOKENS; t++) {
        with[t] += moves[t];
      }
      return AdapterEffect.of(said, with, errors(own), arithmetic);
    }

    /** Tokens that the adapter moves by far more than any arithmetic. */
    private long clear(AdapterEffect.Arithmetic arithmetic) {
      double far = 2 * arithmetic.floor() + 4 * own;
      return Arrays.stream(moves).filter(move -> Math.abs(move) > far).count();
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_anyArithmeticAndAdapter_neverBlamesWhoAddsItNorPraisesWhoDoesNot(long seed) {
    World world = new World(seed);
    AdapterEffect.Arithmetic arithmetic = world.arithmetic();
    assertThat(world.of(1, arithmetic)).isNotInstanceOf(AdapterEffect.NotAdded.class);
    assertThat(world.of(0, arithmetic)).isNotInstanceOf(AdapterEffect.TokenAgreement.class);
    assertThat(world.of(2, arithmetic)).isNotInstanceOf(AdapterEffect.TokenAgreement.class);
    assertThat(world.of(-1, arithmetic)).isNotInstanceOf(AdapterEffect.TokenAgreement.class);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_adapterFarBeyondTheArithmetic_isToldApart(long seed) {
    World world = new World(seed);
    AdapterEffect.Arithmetic arithmetic = world.arithmetic();
    if (world.clear(arithmetic) > TOKENS / 2) {
      assertThat(world.of(1, arithmetic)).isInstanceOf(AdapterEffect.TokenAgreement.class);
      assertThat(world.of(0, arithmetic)).isInstanceOf(AdapterEffect.NotAdded.class);
      assertThat(world.of(2, arithmetic)).isInstanceOf(AdapterEffect.NotAdded.class);
    }
  }

  private static AdapterEffect alike(double move, double part, double size) {
    double[] with = new double[TOKENS];
    Arrays.fill(with, move);
    double[] said = new double[TOKENS];
    Arrays.fill(said, part * move);
    return AdapterEffect.of(said, with, new double[TOKENS], new AdapterEffect.Arithmetic(0, size));
  }

  @Test
  void of_movesBelowThreeTimesTheArithmetic_tellNothing() {
    assertThat(alike(.0009, 0, 0)).isInstanceOf(AdapterEffect.Inconclusive.class);
    assertThat(alike(.0011, 0, 0)).isInstanceOf(AdapterEffect.NotAdded.class);
    assertThat(alike(.029, 0, .01)).isInstanceOf(AdapterEffect.Inconclusive.class);
    assertThat(alike(.031, 0, .01)).isInstanceOf(AdapterEffect.NotAdded.class);
    assertThat(alike(.031, 1, .01)).isEqualTo(new AdapterEffect.TokenAgreement(TOKENS, TOKENS));
  }

  @Test
  void of_verdict_saysHowManyTokensAndHowFar() {
    assertThat(alike(.05, 0, .01).toString())
        .contains("of 128 tokens that it drew with the adapter, which moves them by 0.0500 nats")
        .contains("it moves 128 by more than 0.0300, three times what the server's arithmetic does")
        .contains("of 128 of these is nearer to the bare weights");
    assertThat(alike(.05, 2, .01).toString()).contains("nearer to twice the adapter");
  }

  @Test
  void chance_fairThrows_isTheBinomialTail() {
    assertThat(AdapterEffect.chance(4, 4)).isEqualTo(1. / 16);
    assertThat(AdapterEffect.chance(4, 3)).isEqualTo(5. / 16);
    assertThat(AdapterEffect.chance(4, 0)).isCloseTo(1, within(1e-12));
    assertThat(AdapterEffect.chance(0, 0)).isEqualTo(1);
    assertThat(AdapterEffect.chance(19, 19)).isGreaterThan(AdapterEffect.CHANCE);
    assertThat(AdapterEffect.chance(20, 20)).isLessThan(AdapterEffect.CHANCE);
  }
}
