package io.troupe.core.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.prompt.PromptSampling.Choice;
import io.troupe.core.reward.PassMark;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PromptSamplingTest {
  private static final List<Double> MIXED = List.of(0.0, 1.0, 0.0, 1.0);
  private static final List<Double> RIGHT = List.of(1.0, 1.0, 1.0, 1.0);

  private static PassRate measured(PassRate before, List<Double> rewards) {
    return before.measured(rewards, (int) rewards.stream().filter(PassMark.FULL::passes).count());
  }

  private static PromptSampling byDifficulty(double exploration) {
    return new PromptSampling(false, true, exploration);
  }

  /** Brute force: the beta-binomial's two ends by numerical integration over the pass rate. */
  @Test
  void promise_anyEvidence_isOneMinusTheProbabilityOfADegenerateGroup() {
    for (double passed : new double[] {0, 1.25, 4, 8}) {
      for (double failed : new double[] {0.5, 3, 8}) {
        PassRate rate = new PassRate(passed, failed);
        double mass = 0;
        double degenerate = 0;
        int points = 200_000;
        for (int i = 0; i < points; i++) {
          // x = sin^2(t) takes away the poles of the density at 0 and 1.
          double t = (i + 0.5) / points * Math.PI / 2;
          double x = Math.sin(t) * Math.sin(t);
          double density = Math.pow(x, passed) * Math.pow(1 - x, failed);
          mass += density;
          degenerate += density * (Math.pow(x, 8) + Math.pow(1 - x, 8));
        }
        assertThat(rate.promise(8)).isCloseTo(1 - degenerate / mass, within(1e-6));
      }
    }
  }

  @Test
  void measured_groups_areWeighedAndEqualRewardsCountAsAnEnd() {
    PassRate half = measured(PassRate.UNKNOWN, MIXED);
    assertThat(half).isEqualTo(new PassRate(2, 2));
    assertThat(half.mean()).isEqualTo(0.5);
    assertThat(measured(half, RIGHT)).isEqualTo(new PassRate(4.5, 0.5));
    assertThat(measured(PassRate.UNKNOWN, List.of(0.6, 0.6))).isEqualTo(new PassRate(0, 2));
    assertThat(measured(PassRate.UNKNOWN, List.of(1.5, 1.5))).isEqualTo(new PassRate(2, 0));
    assertThat(measured(PassRate.UNKNOWN, List.of(0.25, 0.75))).isEqualTo(new PassRate(1, 1));
    assertThat(measured(PassRate.UNKNOWN, List.of(1.0, 3.0))).isEqualTo(new PassRate(1, 1));
    assertThat(measured(PassRate.UNKNOWN, List.of(-1.0, 0.5, 1.0))).isEqualTo(new PassRate(1, 2));
  }

  /** Exact accounting: at most once an epoch, who is left out, and the share that is explored. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void next_byDifficulty_admitsEachPromptAtMostOnceAnEpochAndLeavesOutTheUnpromising(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int pool = 1 + random.nextInt(40);
    PromptSampling sampling = byDifficulty(0.05 + 0.95 * random.nextDouble());
    PromptCursor cursor = PromptCursor.START;
    Map<Integer, PassRate> rates = new HashMap<>();
    Set<Integer> ofEpoch = new HashSet<>();
    for (int n = 1; n <= 10 * pool; n++) {
      Choice choice = sampling.next(seed, pool, 4, cursor, rates);
      assertThat(ofEpoch.add(choice.prompt())).isTrue();
      assertThat(choice.next().chosen()).isEqualTo(n);
      int places = choice.next().epoch() > cursor.epoch() ? pool : choice.next().position();
      for (int place = cursor.position(); place < places - 1; place++) {
        int left = PromptOrder.at(seed, cursor.epoch(), place, pool);
        assertThat(rates.getOrDefault(left, PassRate.UNKNOWN).promise(4))
            .isLessThan(PassRate.PROMISING);
        assertThat(rates).containsKey(left);
      }
      assertThat(choice.prompt()).isEqualTo(PromptOrder.at(seed, cursor.epoch(), places - 1, pool));
      rates.merge(
          choice.prompt(),
          measured(PassRate.UNKNOWN, random.nextBoolean() ? MIXED : RIGHT),
          (old, _) -> measured(old, RIGHT));
      if (choice.next().epoch() > cursor.epoch()) {
        assertThat(choice.next().epoch()).isEqualTo(cursor.epoch() + 1);
        ofEpoch.clear();
      }
      cursor = choice.next();
    }
  }

  @Test
  void next_unpromisingPrompts_areAdmittedInTheShareOfTheEpochsThatExplore() {
    int pool = 1_000;
    Map<Integer, PassRate> solved = new HashMap<>();
    for (int prompt = 0; prompt < pool; prompt++) {
      solved.put(prompt, measured(PassRate.UNKNOWN, RIGHT));
    }
    PromptCursor cursor = PromptCursor.START;
    while (cursor.epoch() < 20) {
      cursor = byDifficulty(0.25).next(3, pool, 4, cursor, solved).next();
    }
    assertThat(cursor.chosen() / 20_000.0).isCloseTo(0.25, within(0.01));
  }

  @Test
  void next_listed_goesThroughInTheOrderOfThePool() {
    PromptSampling sampling = byDifficulty(1).inListedOrder();
    PromptCursor cursor = PromptCursor.START;
    List<Integer> prompts = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Choice choice = sampling.next(7, 3, 4, cursor, Map.of());
      prompts.add(choice.prompt());
      cursor = choice.next();
    }
    assertThat(prompts).isEqualTo(List.of(0, 1, 2, 0, 1));
    assertThat(cursor).isEqualTo(new PromptCursor(1, 2, 5));
  }

  @Test
  void objectionTo_runUnderTheOtherRule_saysSo() {
    assertThat(PromptSampling.UNIFORM.objectionTo(new PromptCursor(0, 3, 2)).orElseThrow())
        .startsWith("task.sampling is uniform and the run began with difficulty, ");
    assertThat(byDifficulty(0.5).objectionTo(new PromptCursor(2, 0)).orElseThrow())
        .startsWith("task.sampling is difficulty and the run began with uniform, ");
    assertThat(byDifficulty(0.5).objectionTo(PromptCursor.START)).isEmpty();
    assertThat(byDifficulty(0.5).objectionTo(new PromptCursor(0, 3, 2))).isEmpty();
  }
}
