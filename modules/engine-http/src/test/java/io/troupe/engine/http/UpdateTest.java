package io.troupe.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class UpdateTest {
  /** What really happened at the server, beside what the update knows. */
  private static final class Server {
    boolean paused;
    boolean whole = true;
    boolean moved;
    boolean drained;
    int moves;

    void take(UpdateStep step, boolean halfway) {
      switch (step) {
        case PAUSE -> paused = true;
        case DRAIN -> drained = !halfway;
        case READ -> move(halfway);
        case LOAD -> moved = moved || !halfway; // beside what it has, so that half of it is none
        case RESTART -> {
          assertThat(drained).as("no request is cut off").isTrue();
          move(halfway);
        }
        case RESUME -> paused = false;
        case NAME, CONFIRM, TRY, COMPARE -> {}
      }
    }

    private void move(boolean halfway) {
      moves++;
      whole = !halfway;
      moved = !halfway;
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void update_anyFailures_endsMovedUnmovedOrBrokenAndNeverHalf(long seed) {
    Random random = new Random(seed);
    UpdateWay way =
        new UpdateWay[] {
              UpdateWay.READ,
              UpdateWay.PAUSE_AND_READ,
              UpdateWay.PAUSE_CALL_AND_NAME,
              UpdateWay.PAUSE_AND_CALL,
              UpdateWay.ADAPTER,
              UpdateWay.RESTART
            }
            [random.nextInt(6)];
    double failureRate = random.nextDouble();
    Server server = new Server();
    Update update = Update.begin(way);
    int steps = 0;
    boolean hung = false;
    while (update.next() instanceof Update.Next.Do(UpdateStep step)) {
      assertThat(++steps).isLessThan(40);
      update = update.started(step);
      boolean fails = random.nextDouble() < failureRate;
      if (!fails || random.nextBoolean()) {
        server.take(step, fails); // a call that failed may have been carried out, or half of it
      }
      hung = fails && random.nextInt(6) == 0;
      update = hung ? update.hung(step) : fails ? update.failed("scripted") : update.succeeded();
    }
    assertThat(server.moves).isLessThanOrEqualTo(1);
    switch (update.next()) {
      case Update.Next.Moved() -> {
        assertThat(server.moved).isTrue();
        assertThat(server.whole).isTrue();
        assertThat(server.paused).isFalse();
      }
      case Update.Next.Unmoved(String reason) -> {
        assertThat(server.moves).isZero();
        assertThat(server.paused).isFalse();
        assertThat(reason).isNotBlank();
      }
      case Update.Next.Broken(String reason) -> {
        assertThat(reason).isNotBlank();
        assertThat(hung || way != UpdateWay.ADAPTER).isTrue();
      }
      case Update.Next.Do(UpdateStep step) -> throw new AssertionError(step);
    }
  }
}
