package io.troupe.engine.http.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.troupe.engine.http.probe.UpdateMethod;
import io.troupe.engine.http.probe.UpdateStep;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WeightUpdateTest {
  /** The state of the server, beside the knowledge of the update. */
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
        case READ, BROADCAST -> move(halfway);
        case LOAD -> moved = moved || !halfway; // beside what it has, so that half of it is none
        case RESTART -> {
          assertThat(drained).as("no request is cut off").isTrue();
          move(halfway);
        }
        case RESUME -> paused = false;
        case CONNECT, LIST, NAME, CONFIRM, TRY, BASE, COMPARE -> {}
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
    UpdateMethod way =
        new UpdateMethod[] {
              UpdateMethod.READ,
              UpdateMethod.PAUSE_AND_READ,
              UpdateMethod.PAUSE_CALL_AND_NAME,
              UpdateMethod.PAUSE_AND_CALL,
              UpdateMethod.PAUSE_AND_BROADCAST,
              UpdateMethod.PAUSE_BROADCAST_AND_CONFIRM,
              UpdateMethod.ADAPTER,
              UpdateMethod.RESTART
            }
            [random.nextInt(8)];
    double failureRate = random.nextDouble();
    Server server = new Server();
    WeightUpdate update = WeightUpdate.begin(way);
    int steps = 0;
    boolean hung = false;
    boolean toldToGoOn = false;
    while (update.next() instanceof WeightUpdate.Next.Do(UpdateStep step)) {
      assertThat(++steps).isLessThan(40);
      update = update.started(step);
      toldToGoOn = step == UpdateStep.RESUME && update.retreat();
      boolean fails = random.nextDouble() < failureRate;
      if (!fails || random.nextBoolean()) {
        server.take(step, fails); // a call that failed may have been carried out, or half of it
      }
      boolean hangs = fails && random.nextInt(6) == 0;
      hung |= hangs;
      boolean unable = fails && !hangs && step == UpdateStep.BASE && random.nextBoolean();
      update =
          hangs
              ? update.hung(step)
              : unable
                  ? update.unable("scripted")
                  : fails
                      ? random.nextBoolean()
                          ? update.failed("scripted")
                          : update.unanswered("scripted")
                      : update.succeeded();
    }
    assertThat(server.moves).isLessThanOrEqualTo(1);
    switch (update.next()) {
      case WeightUpdate.Next.Updated() -> {
        assertThat(server.moved).isTrue();
        assertThat(server.whole).isTrue();
        assertThat(server.paused).isFalse();
      }
      case WeightUpdate.Next.NotUpdated(String reason) -> {
        assertThat(server.moves).isZero();
        assertThat(server.paused).isFalse();
        assertThat(reason).isNotBlank();
      }
      case WeightUpdate.Next.Unable(String reason) -> {
        assertThat(server.moves).isZero();
        assertThat(way).isEqualTo(UpdateMethod.ADAPTER);
        assertThat(reason).isEqualTo("scripted");
      }
      case WeightUpdate.Next.Broken(String reason) -> {
        assertThat(reason).isNotBlank();
        if (reason.startsWith("pause hangs") || reason.startsWith("resume hangs")) {
          assertThat(toldToGoOn).isTrue(); // nobody restarts a server of others
        }
        assertThat(hung || way != UpdateMethod.ADAPTER).isTrue();
      }
      case WeightUpdate.Next.Do(UpdateStep step) -> throw new AssertionError(step);
    }
  }

  private static UpdateStep stepOf(WeightUpdate update) {
    return update.next() instanceof WeightUpdate.Next.Do(UpdateStep step)
        ? step
        : fail("nothing is left to be done");
  }

  /** Carried out late, after the caller had gone, a pause would last for good. */
  @Test
  void hung_atPause_tellsTheServerToGoOnBeforeItIsGivenUp() {
    WeightUpdate hung = WeightUpdate.begin(UpdateMethod.PAUSE_AND_READ).hung(UpdateStep.PAUSE);
    assertThat(stepOf(hung)).isEqualTo(UpdateStep.RESUME);
    assertThat(hung.succeeded().next()).isEqualTo(new WeightUpdate.Next.Broken("pause hangs"));
    WeightUpdate still =
        hung.hung(UpdateStep.RESUME).hung(UpdateStep.RESUME).hung(UpdateStep.RESUME);
    assertThat(still.next())
        .isEqualTo(new WeightUpdate.Next.Broken("pause hangs; then it could not be resumed"));
  }

  /** A server of ours merges adapters into all weights while it loads them. */
  @Test
  void hung_atTheFirstLoading_asksOnceMore() {
    WeightUpdate once = WeightUpdate.begin(UpdateMethod.ADAPTER).hung(UpdateStep.LOAD);
    assertThat(stepOf(once)).isEqualTo(UpdateStep.LOAD);
    assertThat(once.hung(UpdateStep.LOAD).next())
        .isEqualTo(new WeightUpdate.Next.Broken("load hangs"));
  }

  @Test
  void unanswered_atTheBaseCheck_asksAgain_andAnAnswerIsBelieved() {
    WeightUpdate checking =
        WeightUpdate.begin(UpdateMethod.ADAPTER).succeeded().succeeded().succeeded();
    assertThat(stepOf(checking.unanswered("too busy"))).isEqualTo(UpdateStep.BASE);
    assertThat(checking.failed("another").next())
        .isEqualTo(new WeightUpdate.Next.NotUpdated("base failed: another"));
  }
}
