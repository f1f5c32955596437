package io.troupe.engine.http.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.outage.RestartBackoff;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.testkit.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
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

  /** Takes the servers that are up, and nothing else. */
  private static Sidecars.Listener listener(Consumer<InferenceEndpoint> up) {
    return new Sidecars.Listener() {
      @Override
      public void up(String name, InferenceEndpoint endpoint) {
        up.accept(endpoint);
      }

      @Override
      public void down(String name) {}

      @Override
      public void failing(String name, String reason) {}

      @Override
      public void givenUp(String name, String reason) {}
    };
  }

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
            new Sidecars.SidecarPlan(
                2,
                1,
                InferenceEndpoint.Patience.DEFAULT,
                new SidecarSupervision.Settings(
                    Duration.ofMinutes(5),
                    new RestartBackoff.Settings(100, 600_000, 1, 1, 1),
                    Duration.ofMinutes(5),
                    false),
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
            listener(_ -> {}));
    awaitFile("ready-1");
    awaitFile("ready-2");
    sidecars.close();
    assertThat(folder.resolve("ended-1")).exists();
    assertThat(folder.resolve("ended-2")).exists();
    assertThat(starts).hasValue(2);
    assertThat(sidecars.pids()).isEmpty();
  }

  /** Answers clients that know the key of its environment. */
  private static final String KEYED =
      """
      import http.server, os, sys
      class Keyed(http.server.BaseHTTPRequestHandler):
          def do_GET(self):
              own = 'Bearer ' + os.environ['VLLM_API_KEY']
              self.send_response(200 if self.headers.get('Authorization') == own else 401)
              self.send_header('Content-Length', '0')
              self.end_headers()
          def log_message(self, *_): pass
      http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Keyed).serve_forever()
      """;

  /** A port is open to all users of the machine, and a command line for all to read. */
  @Test
  void start_serverThatTakesAKey_hasOneOfItsOwnByItsEnvironment() throws Exception {
    BlockingQueue<InferenceEndpoint> up = new LinkedBlockingQueue<>();
    Sidecars.SidecarPlan plan =
        new Sidecars.SidecarPlan(
            2,
            1,
            InferenceEndpoint.Patience.DEFAULT,
            SidecarSupervision.Settings.startingWithin(Duration.ofMinutes(5)),
            (port, _) ->
                new ServerCommand(
                    List.of("python3", "-c", KEYED, Integer.toString(port)),
                    Map.of(),
                    "VLLM_API_KEY"),
            false);
    try (Sidecars _ = Sidecars.start(plan, folder.resolve("servers"), listener(up::add))) {
      InferenceEndpoint first = up.take();
      InferenceEndpoint second = up.take();
      assertThat(first.apiKey()).matches("[0-9a-f]{48}").isNotEqualTo(second.apiKey());
      try (InferenceClient stranger =
          new InferenceClient(InferenceEndpoint.of(first.toString(), 1))) {
        assertThat(stranger.get("/health", Duration.ofSeconds(60)).status()).isEqualTo(401);
      }
    }
  }
}
