package io.troupe.core.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.trace.LineBacklog.Accepted;
import io.troupe.core.trace.LineBacklog.Kind;
import io.troupe.core.trace.LineBacklog.Limits;
import io.troupe.core.trace.LineBacklog.Offered;
import io.troupe.core.trace.LineBacklog.Refused;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class LineBacklogTest {
  @Test
  void offer_linesUntilFull_keepsTheLastQuarterForEvents() {
    LineBacklog backlog = LineBacklog.empty(new Limits(8, 1 << 20));
    for (int i = 0; i < 6; i++) {
      backlog = accepted(backlog.offer(Kind.TEXT, 10));
    }
    assertThat(backlog.full()).isFalse();
    backlog = refused(backlog.offer(Kind.TEXT, 10));
    assertThat(backlog.full()).isTrue();
    backlog = accepted(backlog.offer(Kind.EVENT, 10));
    backlog = accepted(backlog.offer(Kind.EVENT, 10));
    backlog = refused(backlog.offer(Kind.EVENT, 10));
    assertThat(backlog).isEqualTo(new LineBacklog(new Limits(8, 1 << 20), 8, 8 * 138, 2, true));
  }

  @Test
  void written_fullUntilHalfIsFree_changesItsStateOnce() {
    LineBacklog backlog = LineBacklog.empty(new Limits(4, 1 << 20));
    for (int i = 0; i < 4; i++) {
      backlog = accepted(backlog.offer(Kind.EVENT, 0));
    }
    backlog = refused(backlog.offer(Kind.EVENT, 0));
    backlog = backlog.written(0);
    assertThat(backlog.full()).isTrue();
    backlog = backlog.written(0);
    assertThat(backlog.full()).isFalse();
    assertThat(backlog.refused()).isEqualTo(1);
    assertThat(accepted(backlog.offer(Kind.TEXT, 0)).full()).isFalse();
  }

  @Test
  void offer_lineGreaterThanTheBound_isRefusedAlsoWhenNothingWaits() {
    LineBacklog backlog = LineBacklog.empty(new Limits(100, 1000));
    assertThat(refused(backlog.offer(Kind.TEXT, 700)))
        .isEqualTo(new LineBacklog(new Limits(100, 1000), 0, 0, 1, false));
    assertThat(accepted(backlog.offer(Kind.EVENT, 700)).bytes()).isEqualTo(828);
    assertThat(refused(backlog.offer(Kind.EVENT, Integer.MAX_VALUE)).bytes()).isZero();
  }

  @Test
  void written_lineThatDoesNotWait_isABrokenInvariant() {
    LineBacklog backlog = LineBacklog.empty(new Limits(100, 1000));
    assertThatThrownBy(() -> backlog.written(1)).hasMessageContaining("no line of 1 bytes waits");
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void bound_anyOrderOfOffersAndWrites_holdsAndEveryLineIsCountedOnce(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Limits limits = new Limits(random.nextInt(4, 60), random.nextLong(1, 20_000));
    LineBacklog backlog = LineBacklog.empty(limits);
    Deque<Integer> waiting = new ArrayDeque<>();
    long offered = 0;
    long written = 0;
    double stall = random.nextDouble();
    for (int i = 0; i < 500; i++) {
      if (!waiting.isEmpty() && random.nextDouble() > stall) {
        backlog = backlog.written(waiting.remove());
        written++;
      } else {
        int length = random.nextInt(1, 2_000);
        offered++;
        switch (backlog.offer(random.nextBoolean() ? Kind.TEXT : Kind.EVENT, length)) {
          case Accepted(LineBacklog next) -> {
            waiting.add(length);
            backlog = next;
          }
          case Refused(LineBacklog next) -> {
            boolean halfFree =
                next.lines() <= limits.lines() / 2 && next.bytes() <= limits.bytes() / 2;
            assertThat(next.full()).isEqualTo(!halfFree);
            backlog = next;
          }
        }
      }
      assertThat(backlog.lines()).isEqualTo(waiting.size()).isLessThanOrEqualTo(limits.lines());
      assertThat(backlog.bytes())
          .isEqualTo(waiting.stream().mapToLong(length -> length + 128L).sum())
          .isLessThanOrEqualTo(limits.bytes());
      assertThat(backlog.refused() + written + backlog.lines()).isEqualTo(offered);
    }
    while (!waiting.isEmpty()) {
      backlog = backlog.written(waiting.remove());
    }
    assertThat(backlog).isEqualTo(new LineBacklog(limits, 0, 0, backlog.refused(), false));
  }

  private static LineBacklog accepted(Offered offered) {
    assertThat(offered).isInstanceOf(Accepted.class);
    return offered.next();
  }

  private static LineBacklog refused(Offered offered) {
    assertThat(offered).isInstanceOf(Refused.class);
    return offered.next();
  }
}
