package io.troupe.weights.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.testkit.Await;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class StallWatchdogTest {
  @Test
  void watch_connectionThatIsSilent_closesIt() throws IOException {
    AtomicBoolean closed = new AtomicBoolean();
    try (StallWatchdog guard = new StallWatchdog();
        StallWatchdog.Watch watch = guard.watch(() -> closed.set(true), Duration.ofMillis(1), 1)) {
      Await.until("the connection is closed", closed::get);
      assertThat(watch.expired()).isTrue();
    }
  }

  @Test
  void watch_afterItsEnd_failsAsAConnectionDoes() {
    StallWatchdog guard = new StallWatchdog();
    guard.close();

    assertThatThrownBy(() -> guard.watch(() -> {}, Duration.ofSeconds(1), 1))
        .isInstanceOf(IOException.class)
        .hasMessage("the run is over here");
  }
}
