package io.troupe.engine.http.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.LocalScorer;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.http.protocol.RawCompletion;
import io.troupe.engine.http.protocol.RetryPolicy;
import io.troupe.engine.http.replica.ServerWeightFolder;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.serve.ServeSettings;
import io.troupe.serve.ToyFixture;
import io.troupe.testkit.Await;
import io.troupe.testkit.UnusedPorts;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FleetSamplerTest {
  private static final InferenceEndpoint.Patience SHORT =
      new InferenceEndpoint.Patience(
          Duration.ofSeconds(30),
          Duration.ofMillis(300),
          Duration.ofMillis(300),
          Duration.ofSeconds(30));

  /** More than the trial sample of an update takes on a slow machine. */
  private static final InferenceEndpoint.Patience SECONDS =
      new InferenceEndpoint.Patience(
          Duration.ofSeconds(30),
          Duration.ofSeconds(3),
          Duration.ofSeconds(30),
          Duration.ofSeconds(60));

  @TempDir private Path folder;

  static SampleRequest request(long group, int completions) {
    int[] prompt = {(int) (3 + group % 5), 4, 5};
    return new SampleRequest(
        new LeaseId(new GroupId(group), 1),
        prompt,
        completions,
        new SamplingSettings(1, 20),
        group);
  }

  private FleetSampler sampler(ToyPolicy policy, RetryPolicy retry) throws IOException {
    return new FleetSampler(
        policy.tokenizer(),
        policy.contextLength(),
        ServerWeightFolder.open(
            folder.resolve("servers"), _ -> {}, ServerWeightFolder.WeightFileFinder.none()),
        retry);
  }

  private static ToyFixture server() throws IOException {
    return ToyFixture.empty(Duration.ZERO, ServeSettings.loopback(0));
  }

  @Test
  void sample_overHttp_isTheEnginesOwnSampleTokenForToken() throws Exception {
    try (ToyFixture toy = server();
        SamplingEngine alone = toy.policy.newSampler();
        FleetSampler fleet = sampler(toy.policy, RetryPolicy.DEFAULT)) {
      fleet.join("a", InferenceEndpoint.of(toy.base(), 64));
      WeightSnapshot weights = ToyFixture.weights(toy.policy, 0);
      assertThat(Await.value(fleet.load(weights))).isEqualTo(WeightVersion.BASE);
      Await.value(alone.load(weights));
      List<SampleRequest> requests = new ArrayList<>();
      for (int g = 1; g <= 12; g++) {
        requests.add(request(g, 4));
      }
      List<CompletionStage<List<Completion>>> there = fleet.sample(requests);
      List<CompletionStage<List<Completion>>> here = alone.sample(requests);
      for (int g = 0; g < requests.size(); g++) {
        List<Completion> expected = Await.value(here.get(g));
        List<Completion> completions = Await.value(there.get(g));
        for (int c = 0; c < 4; c++) {
          assertThat(completions.get(c).tokens()).isEqualTo(expected.get(c).tokens());
          assertThat(completions.get(c).logProbs()).isEqualTo(expected.get(c).logProbs());
          assertThat(completions.get(c).versions()).isEqualTo(expected.get(c).versions());
          assertThat(completions.get(c).finishReason()).isEqualTo(expected.get(c).finishReason());
        }
      }
    }
  }

  @Test
  void load_newerWeightsWhileSampling_losesNothingAndTellsEveryTokensVersion() throws Exception {
    try (ToyFixture one = ToyFixture.empty(Duration.ofMillis(2), ServeSettings.loopback(0));
        ToyFixture two = ToyFixture.empty(Duration.ofMillis(2), ServeSettings.loopback(0));
        FleetSampler fleet = sampler(one.policy, RetryPolicy.DEFAULT)) {
      fleet.join("one", InferenceEndpoint.of(one.base(), 16));
      fleet.join("two", InferenceEndpoint.of(two.base(), 16));
      Await.value(fleet.load(ToyFixture.weights(one.policy, 0)));
      List<CompletionStage<List<Completion>>> stages = new ArrayList<>();
      for (int version = 1; version <= 4; version++) {
        for (int g = 1; g <= 20; g++) {
          stages.addAll(fleet.sample(List.of(request(version * 100L + g, 4))));
        }
        assertThat(Await.value(fleet.load(ToyFixture.weights(one.policy, version))))
            .isEqualTo(new WeightVersion(version));
      }
      long newest = 0;
      for (CompletionStage<List<Completion>> stage : stages) {
        for (Completion completion : Await.value(stage)) {
          assertThat(completion.versions().tokens()).isEqualTo(completion.length());
          newest = Math.max(newest, completion.versions().newest().number());
        }
      }
      assertThat(newest).isPositive();
      assertThat(fleet.report()).contains("completions=320").contains("refused=none");
    }
  }

  @Test
  void sample_serverDies_isSampledByTheOther() throws Exception {
    try (ToyFixture stays = server();
        FleetSampler fleet = sampler(stays.policy, RetryPolicy.DEFAULT)) {
      ToyFixture dies = server();
      fleet.join("dies", InferenceEndpoint.of(dies.base(), 64));
      fleet.join("stays", InferenceEndpoint.of(stays.base(), 64));
      Await.value(fleet.load(ToyFixture.weights(stays.policy, 0)));
      dies.close();
      for (int g = 1; g <= 20; g++) {
        assertThat(Await.value(fleet.sample(List.of(request(g, 2))).getFirst())).hasSize(2);
      }
    }
  }

  /** Uvicorn closes an idle connection just as the client writes a request on it. */
  @Test
  void sample_idleConnectionClosedUnderTheRequest_isAskedAgainAndDeliveredOnce() throws Exception {
    ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
    try (ToyFixture toy = server();
        ImpatientProxy proxy = new ImpatientProxy(URI.create(toy.base()).getPort());
        FleetSampler sampler = sampler(policy, RetryPolicy.DEFAULT)) {
      sampler.join("behind the proxy", InferenceEndpoint.of(proxy.base(), 8));
      Await.value(sampler.load(ToyFixture.weights(policy, 1)));
      List<Completion> undisturbed = Await.value(sampler.sample(List.of(request(1, 2))).getFirst());
      proxy.closeUnderTheNextSample();
      List<Completion> again = Await.value(sampler.sample(List.of(request(1, 2))).getFirst());
      assertThat(proxy.closings()).isEqualTo(1);
      assertThat(again).hasSize(2);
      for (int i = 0; i < 2; i++) {
        assertThat(again.get(i).tokens()).isEqualTo(undisturbed.get(i).tokens());
      }
      assertThat(sampler.report()).containsPattern("completions=4 retries=[1-9]");
    }
  }

  @Test
  void sample_serverStartedAnew_isBroughtToTheNewestWeightsBeforeItSamples() throws Exception {
    int port = UnusedPorts.next();
    ToyFixture first = ToyFixture.empty(Duration.ZERO, ServeSettings.loopback(port));
    try (FleetSampler fleet =
        sampler(first.policy, new RetryPolicy(50, Duration.ofMillis(50), Duration.ofMillis(400)))) {
      fleet.join("a", InferenceEndpoint.of(first.base(), 64));
      Await.value(fleet.load(ToyFixture.weights(first.policy, 0)));
      Await.value(fleet.load(ToyFixture.weights(first.policy, 3)));
      first.close();
      CompletionStage<List<Completion>> asked = fleet.sample(List.of(request(1, 2))).getFirst();
      try (ToyFixture second = ToyFixture.empty(Duration.ZERO, ServeSettings.loopback(port))) {
        for (Completion completion : Await.value(asked)) {
          assertThat(completion.versions().oldest()).isEqualTo(new WeightVersion(3));
        }
        assertThat(second.get("/weight_info").body()).contains("\"3-");
      }
    }
  }

  @Test
  void cancel_openRequest_failsItAndFreesTheServer() throws Exception {
    try (ToyFixture toy = ToyFixture.empty(Duration.ofMillis(500), ServeSettings.loopback(0));
        FleetSampler fleet = sampler(toy.policy, RetryPolicy.DEFAULT)) {
      fleet.join("a", InferenceEndpoint.of(toy.base(), 64));
      Await.value(fleet.load(ToyFixture.weights(toy.policy, 0)));
      SampleRequest request = request(1, 8);
      toy.engine.forgetRequests();
      CompletionStage<List<Completion>> open = fleet.sample(List.of(request)).getFirst();
      toy.engine.awaitRequest();
      fleet.cancel(request.lease());
      assertThatThrownBy(() -> Await.value(open))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(CancellationException.class);
      awaitMetric(toy, "troupe_serve_requests_running 0");
      awaitMetric(toy, "troupe_serve_disconnects_total 1");
    }
  }

  @Test
  void sample_serverThatTakesRequestsAndSamplesNothing_isToldToBeStartedAnew() throws Exception {
    CompletableFuture<String> broken = new CompletableFuture<>();
    try (ToyFixture toy = server();
        FleetSampler fleet =
            new FleetSampler(
                new LocalPolicy(
                    toy.policy.tokenizer(), toy.policy.contextLength(), LocalScorer.unavailable()),
                ServerWeightFolder.open(
                    folder.resolve("servers"), _ -> {}, ServerWeightFolder.WeightFileFinder.none()),
                new RetryPolicy(1, Duration.ofMillis(1), Duration.ofMillis(1)),
                ServerSupervisor.listening(broken::complete))) {
      fleet.join("hangs", InferenceEndpoint.of(toy.base(), 64).withPatience(SECONDS));
      Await.value(fleet.load(ToyFixture.weights(toy.policy, 0)));
      toy.post("/pause?mode=keep", "");
      assertThatThrownBy(() -> Await.value(fleet.sample(List.of(request(1, 2))).getFirst()))
          .hasMessageContaining("no token after");
      assertThat(Await.value(broken)).isEqualTo("hangs");
      assertThat(toy.get("/health").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void join_serverLeftPaused_isResumed() throws Exception {
    try (ToyFixture toy = server()) {
      WeightSnapshot weights = ToyFixture.weights(toy.policy, 0);
      try (FleetSampler before = sampler(toy.policy, RetryPolicy.DEFAULT)) {
        before.join("a", InferenceEndpoint.of(toy.base(), 64));
        Await.value(before.load(weights));
      }
      toy.post("/pause?mode=keep", "");
      try (FleetSampler after = sampler(toy.policy, RetryPolicy.DEFAULT)) {
        after.join("a", InferenceEndpoint.of(toy.base(), 64));
        Await.value(after.load(weights));
        assertThat(Await.value(after.sample(List.of(request(1, 2))).getFirst())).hasSize(2);
      }
    }
  }

  @Test
  void sample_serverPausedWithAbort_isContinuedOnceItIsResumed() throws Exception {
    try (ToyFixture toy = ToyFixture.empty(Duration.ofMillis(150), ServeSettings.loopback(0));
        FleetSampler fleet = sampler(toy.policy, RetryPolicy.DEFAULT)) {
      fleet.join("a", InferenceEndpoint.of(toy.base(), 64));
      Await.value(fleet.load(ToyFixture.weights(toy.policy, 0)));
      toy.engine.forgetRequests();
      CompletionStage<List<Completion>> open = fleet.sample(List.of(request(1, 8))).getFirst();
      toy.engine.awaitRequest();
      toy.post("/pause?mode=abort", "");
      toy.post("/resume", "");
      assertThat(Await.value(open)).hasSize(8);
      assertThat(fleet.report()).doesNotContain("continued=0").contains("refused=none");
    }
  }

  /** While its weights are moved, a server's silence is not held against it. */
  @Test
  void draw_serverPausedOnPurpose_goesOnAfterwardsWithAllItsTokens() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ofMillis(5));
        InferenceClient wire =
            new InferenceClient(InferenceEndpoint.of(toy.base(), 1).withPatience(SHORT));
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor()) {
      toy.post("/pause?mode=keep", "");
      GenerateRequest request =
          new GenerateRequest(
              "r",
              "policy",
              new int[] {3, 4},
              1,
              new SamplingSettings(1, 4),
              4,
              1,
              "",
              Duration.ZERO,
              "");
      CompletionStage<List<RawCompletion>> open =
          wire.sample(Dialect.TROUPE, request, () -> true, clock).result();
      assertThatThrownBy(() -> open.toCompletableFuture().get(900, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      toy.post("/resume", "");
      assertThat(Await.value(open).getFirst().tokens()).isNotEmpty();
    }
  }

  private static void awaitMetric(ToyFixture toy, String line) {
    Await.until(line, () -> toy.get("/metrics").body().lines().anyMatch(line::equals));
  }
}
