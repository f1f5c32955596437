package io.troupe.engine.http.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.EngineUnavailableException;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.fleet.FleetSampler;
import io.troupe.engine.http.fleet.LoadBalancer;
import io.troupe.engine.http.fleet.LoadBalancerOfOne;
import io.troupe.testkit.Await;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The differences of SGLang when it cuts, fails, or has lost an adapter. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SglangTest {
  private static final SamplingSettings PLAIN = new SamplingSettings(1, 20);

  @TempDir private Path folder;
  private FakeSglang server;
  private LoadBalancerOfOne one;
  private FleetSampler fleet;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeSglang(true);
    one =
        new LoadBalancerOfOne(
            folder, server.base(), PublishedWeightForm.ADAPTERS, FakeSglang.scores());
    fleet = one.fleet;
    Await.value(fleet.load(one.adapted(0)));
  }

  @AfterEach
  void end() {
    one.close();
    server.close();
  }

  private Completion sample(SamplingSettings settings) throws Exception {
    return one.sample(1, settings);
  }

  @Test
  void sample_aborted_isWhatItWouldHaveBeenUncut() throws Exception {
    int[] uncut = sample(PLAIN).tokens();
    server.end(new FakeSglang.End(5, "{\"type\":\"abort\"}"));
    server.end(new FakeSglang.End(0, "{\"type\":\"abort\"}"));
    assertThat(sample(PLAIN).tokens()).isEqualTo(uncut).hasSize(13);
    assertThat(fleet.report()).contains("continued=2");
  }

  /** The tokens before the cut would not be penalised, and the rest have another distribution. */
  @Test
  void sample_abortedWithARepetitionPenalty_isNotContinued() {
    server.end(new FakeSglang.End(5, "{\"type\":\"abort\"}"));
    SamplingSettings penalised =
        new SamplingSettings(1, 1, 0, 0, 1.1, 20, Set.of(), List.of(), false);
    assertThatThrownBy(() -> sample(penalised))
        .hasMessageContaining("completion 0 was cut after 5 tokens and is not continued")
        .hasMessageContaining("set rollout.repetition_penalty to 1");
    assertThat(server.samplingRequests()).hasSize(1);
  }

  /** Three in a row speak against the server; the reason is told, and a later sample fares well. */
  @Test
  void sample_abortsThatMeanARefusal_areTheServersFailure() throws Exception {
    for (int i = 0; i < LoadBalancer.MOST_FAILURES; i++) {
      server.end(
          new FakeSglang.End(
              0, "{\"type\":\"abort\",\"message\":\"too long\",\"status_code\":400}"));
    }
    assertThatThrownBy(() -> sample(PLAIN))
        .hasCauseInstanceOf(EngineUnavailableException.class)
        .hasMessageContaining("no inference server samples: fake: bad request (400): too long");
    assertThat(sample(PLAIN).length()).isEqualTo(13);
  }

  @Test
  void sample_abortThatMeansAFailure_isTriedAgain() throws Exception {
    server.end(
        new FakeSglang.End(
            0, "{\"type\":\"abort\",\"message\":\"out of memory\",\"status_code\":500}"));
    assertThat(sample(PLAIN).length()).isEqualTo(13);
    // a request that found its kept connection closed counts as well
    assertThat(fleet.report()).containsPattern("retries=[1-9][0-9]* continued=0");
  }

  @Test
  void sample_serverLostItsAdapters_getsThemAgainBeforeItSamples() throws Exception {
    Set<String> loaded = Set.copyOf(server.adapters());
    server.adapters().clear();
    assertThat(sample(PLAIN).length()).isEqualTo(13);
    assertThat(server.adapters()).isEqualTo(loaded).hasSize(1);
  }

  /** The answer to a loading lists the adapters that it has. */
  @Test
  void load_serverStartedAnewBetweenVersions_isLookedAtAgain() throws Exception {
    Await.value(fleet.load(one.adapted(1)));
    Await.value(fleet.load(one.adapted(2)));
    server.adapters().clear();
    Await.value(fleet.load(one.adapted(3)));
    assertThat(fleet.report()).doesNotContain("updates_failed=0");
    assertThat(server.adapters()).containsExactly(one.name(3));
  }

  @Test
  void load_adapterThatTheAnswerDoesNotList_givesTheServerNoWork() {
    server.loadNothing();
    CompletionStage<WeightVersion> load = fleet.load(one.adapted(1));
    Await.until(() -> !fleet.report().contains("updates_failed=0"));
    assertThat(fleet.report()).contains("ready=0");
    assertThat(load.toCompletableFuture()).isNotDone();
  }

  /** A server that does not report its pause may be paused by a run that was killed. */
  @Test
  void join_serverThatIsPaused_isToldToGoOn() throws Exception {
    try (FakeSglang paused = new FakeSglang(true)) {
      paused.pause();
      try (LoadBalancerOfOne other =
          new LoadBalancerOfOne(
              folder.resolve("other"),
              paused.base(),
              PublishedWeightForm.ADAPTERS,
              FakeSglang.scores())) {
        Await.value(other.fleet.load(other.adapted(0)));
        assertThat(other.sample(1).length()).isEqualTo(13);
      }
    }
  }

  /** A server whose remedy is a variable of its environment is tried, as a vLLM is. */
  @Test
  void probe_logProbsThatDoNotMoveWithTheTemperature_areNotTheSampledOnes() throws Exception {
    try (InferenceClient wire = new InferenceClient(InferenceEndpoint.of(server.base(), 1))) {
      assertThat(CapabilityProbe.probe(wire).has(Capability.SAMPLED_LOG_PROBS)).isTrue();
      server.tellBareLogProbs();
      assertThat(
              CapabilityProbe.probe(wire)
                  .objections(new ServerRequirements(PublishedWeightForm.MERGED, false, 64, false)))
          .containsExactly(
              "it lacks sampled_log_probs: start it without SGLANG_RETURN_ORIGINAL_LOGPROB");
    }
  }

  @Test
  void probe_routesButNoEnableLora_findsNoAdapters() throws Exception {
    try (FakeSglang other = new FakeSglang(false);
        InferenceClient without = new InferenceClient(InferenceEndpoint.of(other.base(), 1));
        InferenceClient with = new InferenceClient(InferenceEndpoint.of(server.base(), 1))) {
      assertThat(CapabilityProbe.probe(with).has(Capability.ADAPTERS)).isTrue();
      assertThat(
              CapabilityProbe.probe(without)
                  .objections(
                      new ServerRequirements(PublishedWeightForm.ADAPTERS, false, 1, false)))
          .anyMatch(objection -> objection.contains("start it with --enable-lora"));
    }
  }
}
