package io.troupe.engine.http.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.http.Endpoint;
import io.troupe.testkit.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SidecarsTest {
  /** Asked to end, it does so once the other was asked, too. */
  private static final String SERVER =
      """
      cd "$2"
      trap 'touch told-$1
        while [ ! -e told-1 ] || [ ! -e told-2 ]; do sleep 0.02; done
        touch ended-$1
        exit' TERM
      touch ready-$1
      while :; do sleep 0.02; done
      """;

  private static final Sidecars.Listener NOBODY =
      new Sidecars.Listener() {
        @Override
        public void up(String name, Endpoint endpoint) {}

        @Override
        public void down(String name) {}

        @Override
        public void givenUp(String name, String reason) {}
      };

  @TempDir private Path folder;

  private void awaitFile(String name) {
    Await.until(name, () -> Files.exists(folder.resolve(name)));
  }

  /** One after the other, the first would be killed before the second is asked. */
  @Test
  void close_severalServers_areEndedTogetherAndNotStartedAgain() throws Exception {
    AtomicInteger starts = new AtomicInteger();
    Sidecars sidecars =
        Sidecars.start(
            new Sidecars.Plan(
                2,
                1,
                Endpoint.Patience.DEFAULT,
                new Supervision.Settings(
                    Duration.ofMinutes(5),
                    Duration.ofMillis(1),
                    Duration.ofMillis(1),
                    Duration.ofMinutes(5),
                    100),
                (_, _) ->
                    new ServerCommand(
                        List.of(
                            "sh",
                            "-c",
                            SERVER,
                            "server",
                            Integer.toString(starts.incrementAndGet()),
                            folder.toString()),
                        Map.of()),
                false),
            folder.resolve("servers"),
            NOBODY);
    awaitFile("ready-1");
    awaitFile("ready-2");
    sidecars.close();
    assertThat(folder.resolve("ended-1")).exists();
    assertThat(folder.resolve("ended-2")).exists();
    assertThat(starts).hasValue(2);
    assertThat(sidecars.pids()).isEmpty();
  }
}
