package io.troupe.sim.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class AgendaTest {
  private record Planned(long time, long number) {}

  /** The heap takes off what a sorted list would: by time, of equal times by order of planning. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void step_anyPlans_happenInOrderOfTimeAndOfPlanning(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Agenda agenda = new Agenda();
    List<Planned> left = new ArrayList<>();
    List<Long> happened = new ArrayList<>();
    for (long number = 0; number < 500; number++) {
      Planned next = new Planned(agenda.now() + random.nextInt(20), number);
      agenda.at(next.time, happened::add, number);
      left.add(next);
      while (!left.isEmpty() && random.nextInt(3) > 0) {
        step(agenda, left, happened);
      }
    }
    while (!left.isEmpty()) {
      step(agenda, left, happened);
    }
    assertThat(agenda.isEmpty()).isTrue();
  }

  private static void step(Agenda agenda, List<Planned> left, List<Long> happened) {
    Planned first =
        left.stream()
            .min(Comparator.comparingLong(Planned::time).thenComparingLong(Planned::number))
            .orElseThrow();
    left.remove(first);
    assertThat(agenda.next()).isEqualTo(first.time);
    agenda.step();
    assertThat(agenda.now()).isEqualTo(first.time);
    assertThat(happened.getLast()).isEqualTo(first.number);
  }

  @Test
  void at_timeThatHasPassed_isRefused() {
    Agenda agenda = new Agenda();
    agenda.at(5, _ -> {}, 0);
    agenda.step();
    assertThatThrownBy(() -> agenda.at(4, _ -> {}, 0))
        .hasMessage("an occurrence at 4 us is planned at 5 us");
  }
}
