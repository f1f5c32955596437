package io.troupe.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testkit.Await;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PauseGateTest {
  private static final Set<Thread.State> AT_REST =
      EnumSet.of(Thread.State.WAITING, Thread.State.TERMINATED);

  private final PauseGate gate = new PauseGate();
  private final List<String> happened = new CopyOnWriteArrayList<>();

  /**
   * A client that pauses a server counts on the pause: no request on its way may be sampled
   * meanwhile.
   */
  @Test
  void shut_whileWorkIsOnItsWay_waitsForIt() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Thread passing =
        Thread.ofPlatform()
            .start(
                () ->
                    gate.runWhenOpen(
                        () -> {
                          begun.countDown();
                          Await.latch(goOn);
                          happened.add("passed");
                        }));
    begun.await();
    Thread shutting =
        Thread.ofPlatform()
            .start(
                () -> {
                  shut();
                  happened.add("shut");
                });
    Await.until("shut waits", () -> AT_REST.contains(shutting.getState()));
    goOn.countDown();
    passing.join();
    shutting.join();
    assertThat(happened).containsExactly("passed", "shut");
  }

  @Test
  void open_afterShut_runsWhatWasHeldInItsOrder() throws Exception {
    gate.closeAndDrain();
    gate.runWhenOpen(() -> happened.add("first"));
    gate.runWhenOpen(() -> happened.add("second"));
    assertThat(gate.waiting()).isEqualTo(2);
    assertThat(happened).isEmpty();
    gate.open();
    assertThat(happened).containsExactly("first", "second");
    gate.closeAndDrain();
    assertThat(gate.isShut()).isTrue();
  }

  private void shut() {
    try {
      gate.closeAndDrain();
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }
}
