package io.troupe.engine.http.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.engine.EngineUnavailableException;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.FakeVllm;
import io.troupe.engine.http.probe.LocalScorer;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.testkit.Await;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers that answer requests with 400, whatever the prompt is. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RefusingServerTest {
  @TempDir private Path folder;
  private FakeVllm refusing;
  private LoadBalancerOfOne fleet;

  @BeforeEach
  void serve() throws Exception {
    refusing = new FakeVllm();
    fleet =
        new LoadBalancerOfOne(
            folder, refusing.base(), PublishedWeightForm.MERGED, LocalScorer.unavailable());
    Await.value(fleet.fleet.load(fleet.weights(0)));
    refusing.refuseSampling(true);
  }

  @AfterEach
  void end() {
    fleet.close();
    refusing.close();
  }

  @Test
  void sample_oneServerRefuses_isSampledByTheOthers() throws Exception {
    try (FakeVllm sound = new FakeVllm()) {
      fleet.fleet.join("sound", InferenceEndpoint.of(sound.base(), 8));
      Await.until(() -> fleet.fleet.report().contains("ready=2"));
      for (long group = 1; group <= 20; group++) {
        assertThat(fleet.sample(group).length()).isEqualTo(13);
      }
      assertThat(fleet.fleet.report()).contains("failures=0");
      assertThat(sound.samplingRequests()).hasSize(20);
      assertThat(refusing.samplingRequests().size()).isPositive();
    }
  }

  @Test
  void sample_allServersRefuse_failsWithTheReasonAndDoesNotSpin() throws Exception {
    for (int times = 1; times <= 2; times++) {
      assertThatThrownBy(() -> fleet.sample(1))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(EngineUnavailableException.class)
          .hasMessageContaining(
              "no inference server samples: fake: bad request (400): maximum context length");
      assertThat(refusing.samplingRequests()).as("three each time").hasSize(3 * times);
      assertThat(fleet.fleet.report()).contains("quarantined=1");
    }
    refusing.refuseSampling(false);
    assertThat(fleet.sample(2).length()).isEqualTo(13);
  }
}
