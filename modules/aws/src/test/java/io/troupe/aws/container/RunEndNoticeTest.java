package io.troupe.aws.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.net.HostPort;
import io.troupe.testkit.Await;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The first host tells the others how the run ended. */
final class RunEndNoticeTest {
  private static final String HOST = "127.0.0.1";

  private static CompletableFuture<OptionalInt> waiting(int port, Duration patience) {
    CompletableFuture<OptionalInt> end = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                end.complete(RunEndNotice.await(new HostPort(HOST, port), patience));
              } catch (InterruptedException stopped) {
                end.completeExceptionally(stopped);
              }
            });
    return end;
  }

  @Test
  void send_toAConnectedHost_bringsTheCode() throws Exception {
    try (RunEndNotice notice = RunEndNotice.listen(new HostPort(HOST, 0))) {
      CompletableFuture<OptionalInt> end = waiting(notice.port(), Duration.ofMinutes(1));
      Await.until("a connected host", () -> notice.connected() == 1);

      notice.send(4);

      assertThat(end.get()).hasValue(4);
    }
  }

  @Test
  void close_withoutAWord_isTheLossOfTheHost() throws Exception {
    CompletableFuture<OptionalInt> end;
    try (RunEndNotice notice = RunEndNotice.listen(new HostPort(HOST, 0))) {
      end = waiting(notice.port(), Duration.ofMillis(200));
      Await.until("a connected host", () -> notice.connected() == 1);
    }
    assertThat(end.get()).isEmpty();
  }
}
