package io.troupe.engine.http.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.CapabilityProbe;
import io.troupe.engine.http.probe.FakeVllm;
import io.troupe.engine.http.probe.FakeVllm.Cut;
import io.troupe.engine.http.probe.FakeVllm.Script;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.LocalScorer;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.replica.LoadedAdapters;
import io.troupe.engine.http.replica.ServedWeightsCheck;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.testkit.Await;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Adapters that a server loads while it runs. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AdaptersTest {
  @TempDir private Path folder;
  private FakeVllm server;
  private LoadBalancerOfOne one;
  private FleetSampler fleet;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeVllm();
    one =
        new LoadBalancerOfOne(
            folder, server.base(), PublishedWeightForm.ADAPTERS, FakeVllm.scores());
    fleet = one.fleet;
  }

  @AfterEach
  void end() {
    one.close();
    server.close();
  }

  private WeightSnapshot weights(long version) {
    return one.adapted(version);
  }

  private String name(long version) {
    return one.name(version);
  }

  private Completion sample(long group) throws Exception {
    return one.sample(group);
  }

  @Test
  void load_version_isAnAdapterOfItsNameAndTheOldOneGoes() throws Exception {
    for (long version = 0; version <= 2; version++) {
      Await.value(fleet.load(weights(version)));
      assertThat(sample(1).versions().newest()).isEqualTo(new WeightVersion(version));
    }
    assertThat(server.samplingRequests().stream().map(asked -> asked.path("model").asText()))
        .containsExactly(name(0), name(1), name(2));
    Await.until(() -> server.calls().size() == 5); // the last is let go once the next samples
    assertThat(server.calls())
        .containsExactly(
            "load " + name(0),
            "load " + name(1),
            "unload " + name(0),
            "load " + name(2),
            "unload " + name(1));
  }

  @Test
  void sample_cutWhileANewOneIsLoaded_isContinuedWithThat() throws Exception {
    Await.value(fleet.load(weights(0)));
    server.cut(new Script(Cut.ABORT, 5, () -> fleet.load(weights(1)).toCompletableFuture().join()));
    Completion continued = sample(1);
    assertThat(continued.versions().tokens()).isEqualTo(13);
    assertThat(continued.versions().tokensSince(new WeightVersion(1))).isEqualTo(8);
    Await.value(fleet.load(weights(2)));
    Await.until(
        () -> server.calls().containsAll(List.of("unload " + name(0), "unload " + name(1))));
    assertThat(server.story())
        .containsSubsequence("load " + name(1), "end " + name(0), "unload " + name(0));
  }

  /** Long after newer ones are there, what began with an adapter continues with it, uncut. */
  @Test
  void load_whileARequestUsesTheOldOne_letsItEndWithThat() throws Exception {
    Await.value(fleet.load(weights(0)));
    server.cut(new Script(Cut.NONE, 5, () -> fleet.load(weights(1)).toCompletableFuture().join()));
    Completion sampled = sample(1);
    assertThat(sampled.versions().newest()).isEqualTo(WeightVersion.BASE);
    assertThat(sampled.length()).isEqualTo(13);
    assertThat(server.samplingRequests()).hasSize(1);
    assertThat(server.story()) // a late clean-up may unload it by now, and not before
        .startsWith("load " + name(0), "load " + name(1), "end " + name(0));
  }

  /** Loading harms nothing that the server samples with, so nobody ends it for that. */
  @Test
  void load_refusedOnce_isTriedAgain() throws Exception {
    server.refuseAdapters(3); // as often as one update tries
    Await.value(fleet.load(weights(0)));
    assertThat(fleet.report()).contains("updates=1 updates_failed=1");
    assertThat(server.samplingRequests()).isEmpty();
    assertThat(one.broken).isNotDone();
    assertThat(server.calls()).hasSize(4).containsOnly("load " + name(0));
  }

  /** A fault that no name shows: the adapter has its name, and lies over another checkpoint. */
  @Test
  void load_otherCheckpointOfTheSameShapes_givesTheServerNoWork() {
    server.shift(1.5);
    CompletionStage<WeightVersion> load = fleet.load(weights(0));
    Await.until(() -> !fleet.report().contains("updates_failed=0"));
    assertThat(server.weightChecks()).isNotEmpty();
    assertThat(load.toCompletableFuture()).isNotDone();
    assertThat(fleet.report()).contains("ready=0").contains("updates=0 ");
  }

  private ServedWeightsCheck.CheckOutcome verdict() throws Exception {
    String name = name(0);
    try (InferenceClient wire = new InferenceClient(InferenceEndpoint.of(server.base(), 1))) {
      server.adapters().add(name);
      return new ServedWeightsCheck(
              wire,
              new LocalPolicy(
                  one.policy.tokenizer(), one.policy.contextLength(), FakeVllm.scores()))
          .verdict(
              CapabilityProbe.probe(wire),
              WeightTag.parse(name).orElseThrow(),
              weights(0),
              PublishedWeightForm.ADAPTERS,
              0,
              ServedWeightsCheck.TOLERANCE);
    }
  }

  @Test
  void verdict_baseWithinHalfPrecision_isAlike_andFurtherAwayTellsBothNumbers() throws Exception {
    server.shift(0.2);
    assertThat(verdict()).isInstanceOf(ServedWeightsCheck.CheckOutcome.SameWeights.class);
    server.shift(0.3);
    assertThat(verdict().toString())
        .startsWith("OtherWeights")
        .contains("of 61 tokens that it sampled with " + name(0))
        .contains("they are 0.300 apart, and at most 0.250 is its precision")
        .contains("start it with policy.checkpoint, or set rollout.publish: merged");
  }

  /** A checkpoint that was taught to chat ends at once after what is no text. */
  @Test
  void verdict_textsThatEndAtOnce_isOfFurtherPrompts() throws Exception {
    server.endAfter(1);
    server.shift(0.3);
    assertThat(verdict().toString()).contains("of 32 tokens that it sampled");
  }

  /** Not once a version, because it takes a copy of the weights. */
  @Test
  void load_versionAfterVersion_checksTheBaseOnceAndAgainAfterARestart() throws Exception {
    for (long version = 0; version < 5; version++) {
      Await.value(fleet.load(weights(version)));
    }
    assertThat(server.weightChecks())
        .contains("check-%s-0".formatted(name(0)))
        .hasSizeLessThan(5); // and after a connection that broke
    server.adapters().clear();
    assertThat(sample(1).length()).isEqualTo(13);
    assertThat(server.weightChecks()).contains("check-%s-0".formatted(name(4)));
  }

  /** An answer of 200 to the loading is not enough. */
  @Test
  void load_adapterThatTheServerDoesNotList_givesItNoWorkUntilItDoes() throws Exception {
    server.listNoAdapters(true);
    CompletionStage<WeightVersion> load = fleet.load(weights(0));
    Await.until(() -> !fleet.report().contains("updates_failed=0"));
    assertThat(fleet.report()).contains("ready=0").contains("updates=0 ");
    assertThat(server.samplingRequests()).isEmpty();
    assertThat(server.weightChecks()).as("the list came first").isEmpty();
    assertThat(load.toCompletableFuture()).isNotDone();
    server.listNoAdapters(false);
    Await.value(load);
    assertThat(sample(1).length()).isEqualTo(13);
  }

  @Test
  void load_probeCompletionNamesNoModel_givesTheServerNoWork() {
    server.nameNoModel();
    CompletionStage<WeightVersion> load = fleet.load(weights(0));
    Await.until(() -> !fleet.report().contains("updates_failed=0"));
    assertThat(fleet.report()).contains("ready=0").contains("updates=0 ");
    assertThat(server.samplingRequests()).isEmpty();
    assertThat(load.toCompletableFuture()).isNotDone();
  }

  /** Over another checkpoint, while no request of ours was there to notice it. */
  @Test
  void load_serverStartedAnewBetweenVersions_isLookedAtAgain() throws Exception {
    for (long version = 0; version <= 2; version++) {
      Await.value(fleet.load(weights(version)));
    }
    server.adapters().clear();
    server.shift(1.5);
    CompletionStage<WeightVersion> load = fleet.load(weights(3));
    Await.until(() -> server.weightChecks().contains("check-%s-0".formatted(name(3))));
    Await.until(() -> !fleet.report().contains("updates_failed=0"));
    assertThat(fleet.report()).contains("ready=0");
    assertThat(load.toCompletableFuture()).isNotDone();
  }

  @Test
  void load_adapterToUnloadIsNotThere_isLookedAtAgain() throws Exception {
    Await.value(fleet.load(weights(0)));
    server.cut(
        new Script(
            Cut.NONE,
            5,
            () -> {
              fleet.load(weights(1)).toCompletableFuture().join();
              server.adapters().remove(name(0));
            }));
    assertThat(sample(1).length()).isEqualTo(13);
    Await.value(fleet.load(weights(2)));
    Await.until(() -> loadings(1) >= 2 || loadings(2) >= 2); // noticed after either update
    assertThat(sample(2).versions().newest()).isEqualTo(new WeightVersion(2));
  }

  private long loadings(long version) {
    return server.calls().stream().filter(("load " + name(version))::equals).count();
  }

  @Test
  void load_ownPolicyCannotBeComputed_saysSoAndTriesAgain() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    LocalScorer full =
        (weights, sequences) -> {
          if (tries.incrementAndGet() == 1) {
            throw new IllegalStateException("out of memory");
          }
          return FakeVllm.scores().of(weights, sequences);
        };
    try (LoadBalancerOfOne other =
        new LoadBalancerOfOne(
            folder.resolve("other"), server.base(), PublishedWeightForm.ADAPTERS, full)) {
      Await.value(other.fleet.load(weights(0)));
      assertThat(tries).hasValueGreaterThan(1);
      assertThat(other.fleet.report()).contains("updates=1 ").doesNotContain("updates_failed=0");
    }
  }

  @Test
  void load_answerOfAnotherAdapter_givesTheServerNoWork() {
    server.tell("base");
    CompletionStage<WeightVersion> load = fleet.load(weights(0));
    Await.until(() -> !fleet.report().contains("updates_failed=0"));
    assertThat(fleet.report()).contains("ready=0");
    assertThat(load.toCompletableFuture()).isNotDone();
  }

  /** Adapters of a checkpoint are none of whatever a run has made of it since. */
  @Test
  void load_serverOfMergedWeights_isRefused() {
    server.nameWeights(name(7));
    CompletionStage<WeightVersion> load = fleet.load(weights(0));
    Await.until(() -> !fleet.report().contains("updates_failed=0"));
    assertThat(server.calls()).isEmpty();
    assertThat(load.toCompletableFuture()).isNotDone();
  }

  /** A sample of the old version finds the server away while the new one is loaded. */
  @Test
  void load_serverDoubtedMeanwhile_isLookedAtAgainAndSamples() throws Exception {
    Await.value(fleet.load(weights(0)));
    CountDownLatch loading = new CountDownLatch(1);
    CompletableFuture<Void> asked = new CompletableFuture<>();
    server.whileLoading(
        () -> {
          loading.countDown();
          Await.until(() -> !fleet.report().contains("retries=0"));
        });
    server.cut(
        new Script(
            Cut.UNAVAILABLE,
            0,
            () -> {
              asked.complete(null);
              Await.until(() -> loading.getCount() == 0);
            }));
    CompletionStage<List<Completion>> open =
        fleet.sample(List.of(FleetSamplerTest.request(1, 1))).getFirst();
    Await.value(asked);
    Await.value(fleet.load(weights(1)));
    assertThat(Await.value(open).getFirst().versions().newest()).isEqualTo(new WeightVersion(1));
  }

  @Test
  void load_oldOneIsNotLetGo_isAGoodUpdateAndItGoesWithTheNext() throws Exception {
    Await.value(fleet.load(weights(0)));
    server.failUnloads(true);
    Await.value(fleet.load(weights(1)));
    Await.until(() -> server.calls().contains("unload " + name(0)));
    assertThat(sample(1).versions().newest()).isEqualTo(new WeightVersion(1));
    server.failUnloads(false);
    Await.value(fleet.load(weights(2)));
    Await.until(() -> server.adapters().size() == 1);
    assertThat(server.adapters()).containsExactly(name(2));
    assertThat(fleet.report()).contains("updates=3 updates_failed=0");
    assertThat(one.broken).isNotDone();
  }

  /** Adapters as a restarted worker, or a resumed run, finds them. */
  @Test
  void load_adaptersOfAnEarlierSampler_goAndThoseOfAnotherRunStay() throws Exception {
    String left = "7-0123456789abcdef";
    String others = "8-0123456789abcdef";
    server.keep(left, folder.resolve("servers").resolve(left));
    server.keep(others, folder.resolve("another").resolve(others));
    Await.value(fleet.load(weights(0)));
    Await.until(() -> !server.adapters().contains(left));
    Await.value(fleet.load(weights(1)));
    Await.until(() -> !server.adapters().contains(name(0)));
    assertThat(server.adapters()).containsExactlyInAnyOrder(others, name(1));
  }

  @Test
  void sample_answerOfAnotherAdapter_isRefused() throws Exception {
    Await.value(fleet.load(weights(0)));
    server.tell("base");
    assertThatThrownBy(() -> sample(1)).hasMessageContaining("the server sampled it with 'base'");
    assertThat(fleet.report()).contains("refused=foreign_weights=1");
  }

  @Test
  void sample_serverLostItsAdapters_getsThemAgainBeforeItSamples() throws Exception {
    Await.value(fleet.load(weights(0)));
    server.adapters().clear();
    assertThat(sample(1).length()).isEqualTo(13);
    assertThat(server.adapters()).containsExactly(name(0));
  }

  @Test
  void load_bySglangsRoutes_saysWhyItFailed() throws Exception {
    String said = "{\"success\":false,\"error_message\":\"rank 2 is above max_lora_rank\"}";
    try (ScriptedServer sglang =
            new ScriptedServer(
                (_, out) ->
                    out.write(
                        "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
                            .formatted(said.length(), said)
                            .getBytes(StandardCharsets.UTF_8)));
        InferenceClient wire = new InferenceClient(InferenceEndpoint.of(sglang.base(), 1))) {
      LoadedAdapters adapters = new LoadedAdapters(wire);
      assertThat(adapters.load("1-a", Path.of("/x"), Dialect.SGLANG))
          .contains("rank 2 is above max_lora_rank");
      assertThat(sglang.requests().getLast())
          .startsWith("POST /load_lora_adapter HTTP/1.1")
          .contains("\"lora_name\":\"1-a\"", "\"lora_path\":\"/x\"");
    }
  }

  @Test
  void load_weightsWithoutAdapters_saysWhatToSet() {
    assertThatThrownBy(() -> Await.value(fleet.load(one.weights(0))))
        .hasMessageContaining("set rollout.publish: merged");
  }
}
