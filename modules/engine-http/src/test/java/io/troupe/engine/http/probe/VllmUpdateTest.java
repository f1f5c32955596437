package io.troupe.engine.http.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.fleet.LoadBalancerOfOne;
import io.troupe.engine.http.replica.Replica;
import io.troupe.engine.http.replica.WeightSyncLoop;
import io.troupe.engine.http.replica.WeightUpdate;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.testkit.Await;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checks of a vLLM at the start, and its updates with whole weights. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VllmUpdateTest {
  @TempDir private Path folder;
  @AutoClose private FakeVllm server;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeVllm();
  }

  private List<String> objections(int contextLength, boolean recomputes) throws Exception {
    try (InferenceClient wire = new InferenceClient(InferenceEndpoint.of(server.base(), 1))) {
      return CapabilityProbe.probe(wire)
          .objections(
              new ServerRequirements(PublishedWeightForm.MERGED, false, contextLength, recomputes));
    }
  }

  @Test
  void objections_contextLongerThanTheServers_namesRuleValueAndRemedy() throws Exception {
    assertThat(objections(64, false)).isEmpty();
    assertThat(objections(65, false))
        .containsExactly(
            "its max_model_len (64) must hold the policy's context (policy.context_length, 65), or"
                + " it refuses requests; start it with --max-model-len 65, or lower"
                + " policy.context_length");
  }

  @Test
  void objections_reloadThatTakesNoDirectory_saysSo() throws Exception {
    server.reloadItsOwnAlone();
    assertThat(objections(64, false))
        .containsExactly(
            "there is no way to give it new weights: its reload_weights takes no weights_path: take"
                + " a newer vLLM, whose workers read weights from a directory");
    assertThat(server.calls()).as("nothing was read to find that out").isEmpty();
  }

  @Test
  void objections_recomputeOfAServerThatCannot_namesTheKey() throws Exception {
    server.resetNothing();
    assertThat(objections(64, false)).isEmpty();
    assertThat(objections(64, true))
        .singleElement()
        .asString()
        .endsWith("knows reset_running_requests, or set rollout.kv_on_swap: keep");
  }

  @Test
  void load_keep_freezesRequestsWithTheirKeys() throws Exception {
    try (LoadBalancerOfOne one =
        new LoadBalancerOfOne(
            folder, server.base(), PublishedWeightForm.MERGED, LocalScorer.unavailable())) {
      Await.value(one.fleet.load(one.weights(0)));
    }
    assertThat(server.story()).containsExactly("pause mode=keep&clear_cache=false", "reload");
  }

  @Test
  void load_recompute_takesTheKeysOfRequestsInFlightBeforeItReads() throws Exception {
    try (LoadBalancerOfOne one =
        new LoadBalancerOfOne(
            folder, server.base(), PublishedWeightForm.MERGED, LocalScorer.unavailable(), true)) {
      Await.value(one.fleet.load(one.weights(0)));
    }
    assertThat(server.story())
        .containsExactly(
            "pause mode=keep&clear_cache=false", "reset reset_running_requests=true", "reload");
  }

  /** A server may have been replaced by an older one since the last look. */
  @Test
  void update_reloadThatTakesNoDirectoryAfterAll_isBrokenWithThatReason() throws Exception {
    try (LoadBalancerOfOne one =
            new LoadBalancerOfOne(
                folder, server.base(), PublishedWeightForm.MERGED, LocalScorer.unavailable());
        InferenceClient wire = new InferenceClient(InferenceEndpoint.of(server.base(), 1))) {
      LocalPolicy policy =
          new LocalPolicy(
              one.policy.tokenizer(), one.policy.contextLength(), LocalScorer.unavailable());
      Replica replica =
          new Replica("r", wire, policy, Optional.empty(), PublishedWeightForm.MERGED);
      assertThat(replica.capabilities().has(Capability.RELOAD_FROM_PATH)).isTrue();
      server.reloadItsOwnAlone();
      WeightTag tag = WeightTag.of(WeightVersion.BASE, one.weights(0).digest());
      assertThat(replica.update(new WeightSyncLoop.TargetWeightSet(tag, folder, one.weights(0))))
          .isEqualTo(
              new WeightUpdate.Next.Broken(
                  "read failed: its reload_weights takes no weights_path, so it cannot read weights"
                      + " from a directory; take a newer vLLM, whose workers read weights from a"
                      + " directory"));
    }
  }

  private LoadBalancerOfOne comparing(double tolerance) throws Exception {
    return new LoadBalancerOfOne(
        folder,
        server.base(),
        PublishedWeightForm.MERGED,
        FakeVllm.scores(),
        false,
        OptionalDouble.of(tolerance));
  }

  /** As a server does that packs its output head at its start, and renews the rest. */
  @Test
  void load_serverThatUsesItsNewWeightsInPart_getsNoWork() throws Exception {
    try (LoadBalancerOfOne one = comparing(0.25)) {
      Await.value(one.fleet.load(one.weights(0)));
      server.whileReloading(() -> server.shift(0.06));
      CompletionStage<WeightVersion> load = one.fleet.load(one.weights(1));
      Await.until(() -> !one.fleet.report().contains("updates_failed=0"));
      assertThat(load.toCompletableFuture()).isNotDone();
      assertThat(one.fleet.report()).contains("ready=0").contains("updates=1 ");
      assertThat(server.weightChecks()).as("one, then three attempts").hasSizeGreaterThan(3);
      one.fleet.leave("fake");
      one.fleet.join("fake", InferenceEndpoint.of(server.base(), 8));
      Await.until(() -> one.fleet.report().contains("updates_failed=2"));
      assertThat(load.toCompletableFuture()).as("what is known outlives the server").isNotDone();
    }
  }

  /** As in half precision, in which one sample may be nearer than most. */
  @Test
  void load_distancesWithinTheServersPrecision_areServed() throws Exception {
    try (LoadBalancerOfOne one = comparing(0.25)) {
      long version = 0;
      for (double shift : new double[] {0, 0.045, 0.06, 0.1, 0}) {
        server.shift(shift);
        Await.value(one.fleet.load(one.weights(version++)));
      }
      assertThat(one.fleet.report()).contains("updates=5 updates_failed=0");
    }
  }

  @ParameterizedTest
  @CsvSource({"0.25, 0.2, true", "0.25, 0.3, false", "0.02, 0.001, true", "0.02, 0.03, false"})
  void load_firstWeights_areWithinTheToleranceOrRefused(
      double tolerance, double shift, boolean served) throws Exception {
    server.shift(shift);
    try (LoadBalancerOfOne one = comparing(tolerance)) {
      CompletionStage<WeightVersion> load = one.fleet.load(one.weights(0));
      Await.until(() -> !one.fleet.report().contains("updates=0 updates_failed=0"));
      assertThat(one.fleet.report()).contains(served ? "updates_failed=0" : "updates=0 ");
      assertThat(load.toCompletableFuture().isDone()).isEqualTo(served);
    }
  }

  /** A vLLM has emptied its layers by then, and ends at the next token. */
  @Test
  void load_serverThatCouldNotReadItsWeights_samplesNothingBeforeItHasRead() throws Exception {
    try (LoadBalancerOfOne one = comparing(0.25)) {
      Await.value(one.fleet.load(one.weights(0)));
      server.failReloads(true);
      CompletionStage<WeightVersion> load = one.fleet.load(one.weights(1));
      int sampled = server.samples();
      Await.until(() -> server.calls().stream().filter("failed reload"::equals).count() >= 3);
      assertThat(server.samples()).isEqualTo(sampled);
      server.failReloads(false);
      Await.value(load);
    }
  }

  @Test
  void sample_moreStopTextsThanTheServerTakes_endsAtEachOfThem() throws Exception {
    server.takeStops(4);
    try (LoadBalancerOfOne one = comparing(0.25)) {
      Await.value(one.fleet.load(one.weights(0)));
      Completion whole = one.sample(1);
      Tokenizer tokenizer = one.policy.tokenizer();
      String fifth = tokenizer.decode(new int[] {whole.tokens()[2]});
      Completion cut =
          one.sample(
              1,
              new SamplingSettings(1, 20).withStops(List.of("aa\n", "aa", "b", "c", "d", fifth)));
      assertThat(server.samplingRequests().getLast().path("stop").toString())
          .isEqualTo("[\"aa\",\"b\",\"c\",\"d\"]");
      assertThat(tokenizer.decode(cut.tokens())).endsWith(fifth);
      assertThat(cut.length()).isLessThanOrEqualTo(3);
      assertThat(cut.finishReason()).isEqualTo(FinishReason.STOP_STRING);
    }
  }

  @Test
  void sample_anyPrompt_saysTheTokenizersOwnEnds() throws Exception {
    try (LoadBalancerOfOne one =
        new LoadBalancerOfOne(
            folder, server.base(), PublishedWeightForm.MERGED, LocalScorer.unavailable())) {
      Await.value(one.fleet.load(one.weights(0)));
      one.sample(1);
      assertThat(server.samplingRequests().getFirst().path("stop_token_ids"))
          .singleElement()
          .satisfies(
              id -> assertThat(id.asInt()).isEqualTo(one.policy.tokenizer().endOfSequence()));
      assertThat(server.samplingRequests().getFirst().path("ignore_eos").asBoolean()).isTrue();
    }
  }
}
