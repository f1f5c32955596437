package io.troupe.engine.http.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.probe.FakeVllm;
import io.troupe.engine.http.probe.FakeVllm.Cut;
import io.troupe.engine.http.probe.FakeVllm.Script;
import io.troupe.engine.http.probe.LocalScorer;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.http.protocol.RetryPolicy;
import io.troupe.testkit.Await;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a server cut is continued from where it stopped. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ContinuedTest {
  @TempDir private Path folder;
  private FakeVllm server;
  private LoadBalancerOfOne one;
  private FleetSampler fleet;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeVllm();
    one =
        new LoadBalancerOfOne(
            folder, server.base(), PublishedWeightForm.MERGED, LocalScorer.unavailable());
    fleet = one.fleet;
    Await.value(fleet.load(one.weights(0)));
  }

  @AfterEach
  void end() {
    one.close();
    server.close();
  }

  private Completion sample(long group) throws Exception {
    return one.sample(group);
  }

  @Test
  void sample_cutInEveryWay_isWhatItWouldHaveBeenUncut() throws Exception {
    Completion uncut = sample(1);
    server.cut(
        new Script(Cut.ABORT, 0),
        new Script(Cut.ABORT, 5),
        new Script(Cut.CLOSE, 3),
        new Script(Cut.ERROR, 2));
    Completion continued = sample(1);
    assertThat(continued.tokens()).isEqualTo(uncut.tokens()).hasSize(13);
    assertThat(continued.logProbs()).isEqualTo(uncut.logProbs());
    assertThat(continued.versions()).isEqualTo(uncut.versions());
    assertThat(continued.finishReason()).isEqualTo(FinishReason.STOP);
    // how often a request found its kept connection closed, before any token, is not asked
    assertThat(fleet.report())
        .containsPattern("completions=2 retries=[0-9]+ continued=4 failures=0");
  }

  @Test
  void sample_cut_asksForTheRestWithASeedOfItsOwn() throws Exception {
    SampleRequest request = FleetSamplerTest.request(1, 1);
    server.cut(new Script(Cut.CLOSE, 5));
    Completion sampled = Await.value(fleet.sample(List.of(request)).getFirst()).getFirst();
    assertThat(server.samplingRequests()).hasSize(2);
    JsonNode first = server.samplingRequests().getFirst();
    JsonNode rest = server.samplingRequests().getLast();
    assertThat(rest.path("prompt")).hasSize(request.prompt().length + 5);
    assertThat(rest.path("prompt").path(request.prompt().length + 4).asInt())
        .isEqualTo(sampled.tokens()[4]);
    assertThat(first.path("max_tokens").asInt()).isEqualTo(20);
    assertThat(rest.path("max_tokens").asInt()).isEqualTo(15);
    assertThat(rest.path("seed").asLong()).isNotEqualTo(first.path("seed").asLong());
  }

  @Test
  void sample_newWeightsBeforeTheRest_tellsBothVersions() throws Exception {
    server.cut(
        new Script(Cut.ABORT, 5, () -> fleet.load(one.weights(1)).toCompletableFuture().join()));
    assertThat(sample(1).versions().spans())
        .containsExactly(
            new TokenVersions.Span(WeightVersion.BASE, 5),
            new TokenVersions.Span(new WeightVersion(1), 8));
  }

  /**
   * Between the reading and the trial sample that fails, the server samples from who knows what.
   */
  @Test
  void sample_cutAfterAnUpdateThatFailed_isRefused() {
    server.cut(
        new Script(
            Cut.CLOSE,
            5,
            () -> {
              server.failTries(true);
              var _ = fleet.load(one.weights(1));
              Await.until("the update fails", () -> !fleet.report().contains("updates_failed=0"));
              server.failTries(false);
            }));
    assertThatThrownBy(() -> sample(1))
        .hasMessageContaining("half_weights: the server began to read");
    assertThat(fleet.report()).contains("continued=0").contains("refused=half_weights=1");
  }

  @Test
  void sample_nothingButEndMarks_isGivenUpInTheEnd() {
    for (int i = 0; i <= RetryPolicy.MOST_CUTS; i++) {
      server.cut(new Script(Cut.ABORT, 0));
    }
    assertThatThrownBy(() -> sample(1)).hasMessageContaining("was cut 9 times");
  }

  @Test
  void sample_stopStringAcrossTheCut_endsThere() throws Exception {
    int[] uncut = sample(1).tokens();
    String stop = one.policy.tokenizer().decode(Arrays.copyOfRange(uncut, 3, 7));
    server.cut(new Script(Cut.ABORT, 5));
    SamplingSettings settings =
        new SamplingSettings(1, 1, 0, 0, 1, 20, Set.of(), List.of(stop), false);
    Completion sampled = one.sample(1, settings);
    assertThat(sampled.tokens()).isEqualTo(Arrays.copyOf(uncut, 7));
    assertThat(sampled.finishReason()).isEqualTo(FinishReason.STOP_STRING);
  }

  @Test
  void sample_cutWithoutLogProbs_isRefusedAndNotContinued() {
    server.cut(new Script(Cut.ABORT_WITHOUT_LOG_PROBS, 5));
    assertThatThrownBy(() -> sample(1))
        .hasMessageContaining("log_probs_missing: 0 log-probabilities for 5 tokens");
    assertThat(server.samplingRequests()).hasSize(1);
    assertThat(fleet.report()).contains("continued=0").contains("refused=log_probs_missing=1");
  }

  @Test
  void sample_cutAgainAndAgain_isGivenUpInTheEnd() {
    for (int i = 0; i <= RetryPolicy.MOST_CUTS; i++) {
      server.cut(new Script(Cut.ABORT, 1));
    }
    assertThatThrownBy(() -> sample(1)).hasMessageContaining("was cut 9 times");
    assertThat(server.samplingRequests()).hasSize(9);
  }
}
