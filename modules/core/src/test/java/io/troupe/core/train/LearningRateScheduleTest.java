package io.troupe.core.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.train.LearningRateSchedule.Decay;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class LearningRateScheduleTest {
  private static final Offset<Double> EXACT = within(1e-15);

  private static LearningRateSchedule random(Random random) {
    return new LearningRateSchedule(
        random.nextDouble(),
        random.nextInt(20),
        List.of(Decay.values()).get(random.nextInt(3)),
        random.nextInt(3) / 2.);
  }

  @Test
  void at_warmUp_climbsInEqualStepsToThePeak() {
    LearningRateSchedule schedule = new LearningRateSchedule(8, 4, Decay.CONSTANT, .1);
    double[] expected = {2, 4, 6, 8, 8, 8};
    for (int s = 1; s <= 6; s++) {
      assertThat(schedule.at(s, 6)).isEqualTo(expected[s - 1]);
    }
  }

  @Test
  void at_linearDecay_fallsInEqualStepsToTheFloor() {
    LearningRateSchedule schedule = new LearningRateSchedule(8, 2, Decay.LINEAR, .5);
    double[] expected = {4, 8, 7, 6, 5, 4};
    for (int s = 1; s <= 6; s++) {
      assertThat(schedule.at(s, 6)).isEqualTo(expected[s - 1]);
    }
  }

  @Test
  void at_cosineDecay_isHalfWayInTheMiddle() {
    LearningRateSchedule schedule = new LearningRateSchedule(8, 1, Decay.COSINE, .25);
    assertThat(schedule.at(1, 9)).isEqualTo(8);
    // 2 + 6 (1 + cos(pi/4))/2
    assertThat(schedule.at(3, 9)).isCloseTo(5 + 3 * Math.sqrt(.5), within(1e-12));
    assertThat(schedule.at(5, 9)).isCloseTo(5, within(1e-12));
    assertThat(schedule.at(9, 9)).isCloseTo(2, within(1e-12));
  }

  @Test
  void at_noWarmUp_startsAtThePeak() {
    LearningRateSchedule schedule = new LearningRateSchedule(8, 0, Decay.LINEAR, 0);
    assertThat(schedule.at(1, 5)).isEqualTo(8);
    assertThat(schedule.at(2, 5)).isEqualTo(6);
    assertThat(schedule.at(5, 5)).isZero();
  }

  @Test
  void at_runOfASingleStep_hasThePeak() {
    assertThat(new LearningRateSchedule(8, 0, Decay.COSINE, 0).at(1, 1)).isEqualTo(8);
  }

  @Test
  void at_warmUpLongerThanTheRun_stopsOnTheWayUp() {
    assertThat(new LearningRateSchedule(8, 4, Decay.COSINE, 0).at(3, 3)).isEqualTo(6);
  }

  @Test
  void at_stepOutsideTheRun_isRefused() {
    LearningRateSchedule schedule = new LearningRateSchedule(8, 0, Decay.LINEAR, 0);
    assertThatThrownBy(() -> schedule.at(0, 5))
        .hasMessage("step 0 has no learning rate: steps count from 1 to 5");
    assertThatThrownBy(() -> schedule.at(6, 5))
        .hasMessage("step 6 has no learning rate: steps count from 1 to 5");
  }

  @Test
  void schedule_badSettings_areRefusedByName() {
    assertThatThrownBy(() -> new LearningRateSchedule(-1, 0, Decay.LINEAR, 0))
        .hasMessage("the peak learning rate is a finite number, 0 or greater, not -1.0");
    assertThatThrownBy(() -> new LearningRateSchedule(Double.POSITIVE_INFINITY, 0, Decay.LINEAR, 0))
        .hasMessage("the peak learning rate is a finite number, 0 or greater, not Infinity");
    assertThatThrownBy(() -> new LearningRateSchedule(1, -1, Decay.LINEAR, 0))
        .hasMessage("warm-up steps are 0 or more, not -1");
    assertThatThrownBy(() -> new LearningRateSchedule(1, 0, Decay.LINEAR, -.1))
        .hasMessage("the floor of the learning rate is a share of the peak in [0, 1], not -0.1");
    assertThatThrownBy(() -> new LearningRateSchedule(1, 0, Decay.LINEAR, 1.1))
        .hasMessage("the floor of the learning rate is a share of the peak in [0, 1], not 1.1");
  }

  @Test
  void schedule_endsOfItsRanges_areTaken() {
    assertThat(new LearningRateSchedule(0, 0, Decay.LINEAR, 0).at(1, 2)).isZero();
    assertThat(new LearningRateSchedule(8, 0, Decay.LINEAR, 1).at(2, 2)).isEqualTo(8);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void at_anySchedule_risesToThePeakAndThenFallsToTheFloor(long seed) {
    Random random = new Random(seed);
    LearningRateSchedule schedule = random(random);
    long top = Math.max(schedule.warmupSteps(), 1);
    long total = top + 1 + random.nextInt(50);
    double floor =
        schedule.decay() == Decay.CONSTANT
            ? schedule.peak()
            : schedule.peak() * schedule.floorShare();
    assertThat(schedule.at(top, total)).isEqualTo(schedule.peak());
    assertThat(schedule.at(total, total)).isCloseTo(floor, EXACT);
    for (long s = 2; s <= total; s++) {
      double before = schedule.at(s - 1, total);
      double now = schedule.at(s, total);
      assertThat(s <= top ? now >= before : now <= before)
          .as("step %d of %d: %s after %s", s, total, now, before)
          .isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void at_anyDecay_isSymmetricAboutItsMiddle(long seed) {
    Random random = new Random(seed);
    LearningRateSchedule schedule = random(random);
    long top = Math.max(schedule.warmupSteps(), 1);
    long total = top + 2 + random.nextInt(50);
    double ends = schedule.at(top, total) + schedule.at(total, total);
    for (long s = top; s <= total; s++) {
      assertThat(schedule.at(s, total) + schedule.at(top + total - s, total))
          .isCloseTo(ends, EXACT);
    }
  }
}
