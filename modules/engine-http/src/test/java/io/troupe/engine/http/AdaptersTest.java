package io.troupe.engine.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.rollout.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Adapter;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.FakeVllm.Cut;
import io.troupe.engine.http.FakeVllm.Script;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.Retry;
import io.troupe.engine.http.protocol.WeightTag;
import io.troupe.engine.toy.ToyPolicy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Case 26: adapters that a server loads while it runs. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AdaptersTest {
  @TempDir private Path folder;
  private final ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
  private final CompletableFuture<String> broken = new CompletableFuture<>();
  private FakeVllm server;
  private FleetSampler fleet;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeVllm(policy.tokenizer().endOfSequence());
    fleet =
        new FleetSampler(
            policy.tokenizer(),
            policy.contextLength(),
            WeightShelf.open(
                Publishing.ADAPTERS, folder.resolve("shelf"), _ -> {}, WeightShelf.Lying.nowhere()),
            new Retry(50, Duration.ofMillis(1), Duration.ofMillis(200)),
            Keeper.hearing(broken::complete));
    fleet.join("fake", Endpoint.of(server.base(), 8));
  }

  @AfterEach
  void end() throws IOException {
    fleet.close();
    server.close();
    policy.close();
  }

  private WeightSnapshot weights(long version) {
    WeightSnapshot merged = ToyFixture.weights(policy, version);
    return merged.with(new Adapter(2, 4, List.of("q_proj"), merged.tensors()));
  }

  private String name(long version) {
    return WeightTag.of(new WeightVersion(version), weights(version).digest()).toString();
  }

  private static <T> T await(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private static void awaitThat(BooleanSupplier condition) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.onSpinWait();
    }
  }

  private Completion draw(long group) throws Exception {
    return await(fleet.sample(List.of(FleetSamplerTest.request(group, 1))).getFirst()).getFirst();
  }

  @Test
  void load_version_isAnAdapterOfItsNameAndTheOldOneGoes() throws Exception {
    for (long version = 0; version <= 2; version++) {
      await(fleet.load(weights(version)));
      assertThat(draw(1).versions().newest()).isEqualTo(new WeightVersion(version));
    }
    assertThat(server.draws().stream().map(asked -> asked.path("model").asText()))
        .containsExactly(name(0), name(1), name(2));
    awaitThat(() -> server.calls().size() == 5); // the last is let go once the next draws
    assertThat(server.calls())
        .containsExactly(
            "load " + name(0),
            "load " + name(1),
            "unload " + name(0),
            "load " + name(2),
            "unload " + name(1));
  }

  @Test
  void sample_cutWhileANewOneIsLoaded_isDrawnOnWithThat() throws Exception {
    await(fleet.load(weights(0)));
    server.cut(new Script(Cut.ABORT, 5, () -> fleet.load(weights(1)).toCompletableFuture().join()));
    Completion drawnOn = draw(1);
    assertThat(drawnOn.versions().tokens()).isEqualTo(13);
    assertThat(drawnOn.versions().tokensSince(new WeightVersion(1))).isEqualTo(8);
    assertThat(server.adapters()).containsExactlyInAnyOrder(name(0), name(1));
    await(fleet.load(weights(2)));
    awaitThat(() -> server.calls().containsAll(List.of("unload " + name(0), "unload " + name(1))));
  }

  /** Long after newer ones are there, what began with an adapter goes on with it, uncut. */
  @Test
  void load_whileARequestUsesTheOldOne_letsItEndWithThat() throws Exception {
    await(fleet.load(weights(0)));
    server.cut(new Script(Cut.NONE, 5, () -> fleet.load(weights(1)).toCompletableFuture().join()));
    Completion drawn = draw(1);
    assertThat(drawn.versions().newest()).isEqualTo(WeightVersion.BASE);
    assertThat(drawn.length()).isEqualTo(13);
    assertThat(server.calls()).containsExactly("load " + name(0), "load " + name(1));
    assertThat(server.draws()).hasSize(1);
  }

  /** Loading harms nothing that the server draws with, so nobody ends it for that. */
  @Test
  void load_refusedOnce_isTriedAgain() throws Exception {
    server.refuseAdapters(3); // as often as one update tries
    await(fleet.load(weights(0)));
    assertThat(fleet.report()).contains("updates=1 updates_failed=1");
    assertThat(server.draws()).isEmpty();
    assertThat(broken).isNotDone();
    assertThat(server.calls()).hasSize(4).containsOnly("load " + name(0));
  }

  @Test
  void load_answerOfAnotherAdapter_givesTheServerNoWork() {
    server.tell("base");
    CompletionStage<WeightVersion> load = fleet.load(weights(0));
    awaitThat(() -> fleet.report().contains("ready=0") && fleet.report().contains("_failed=1"));
    assertThat(load.toCompletableFuture()).isNotDone();
  }

  /** Adapters of a checkpoint are none of whatever a run has made of it since. */
  @Test
  void load_serverOfMergedWeights_isRefused() {
    server.nameWeights(name(7));
    CompletionStage<WeightVersion> load = fleet.load(weights(0));
    awaitThat(() -> fleet.report().contains("updates_failed=1"));
    assertThat(server.calls()).isEmpty();
    assertThat(load.toCompletableFuture()).isNotDone();
  }

  /** A draw of the old version finds the server away while the new one is loaded. */
  @Test
  void load_serverDoubtedMeanwhile_isLookedAtAgainAndDraws() throws Exception {
    await(fleet.load(weights(0)));
    CountDownLatch loading = new CountDownLatch(1);
    CompletableFuture<Void> asked = new CompletableFuture<>();
    server.whileLoading(
        () -> {
          loading.countDown();
          awaitThat(() -> !fleet.report().contains("retries=0"));
        });
    server.cut(
        new Script(
            Cut.UNAVAILABLE,
            0,
            () -> {
              asked.complete(null);
              awaitThat(() -> loading.getCount() == 0);
            }));
    CompletionStage<List<Completion>> open =
        fleet.sample(List.of(FleetSamplerTest.request(1, 1))).getFirst();
    await(asked);
    await(fleet.load(weights(1)));
    assertThat(await(open).getFirst().versions().newest()).isEqualTo(new WeightVersion(1));
  }

  @Test
  void load_oldOneIsNotLetGo_isAGoodUpdateAndItGoesWithTheNext() throws Exception {
    await(fleet.load(weights(0)));
    server.failUnloads(true);
    await(fleet.load(weights(1)));
    awaitThat(() -> server.calls().contains("unload " + name(0)));
    assertThat(draw(1).versions().newest()).isEqualTo(new WeightVersion(1));
    server.failUnloads(false);
    await(fleet.load(weights(2)));
    awaitThat(() -> server.adapters().size() == 1);
    assertThat(server.adapters()).containsExactly(name(2));
    assertThat(fleet.report()).contains("updates=3 updates_failed=0");
    assertThat(broken).isNotDone();
  }

  @Test
  void sample_answerOfAnotherAdapter_isRefused() throws Exception {
    await(fleet.load(weights(0)));
    server.tell("base");
    assertThatThrownBy(() -> draw(1)).hasMessageContaining("the server drew it with 'base'");
    assertThat(fleet.report()).contains("refused=foreign_weights=1");
  }

  @Test
  void sample_serverLostItsAdapters_getsThemAgainBeforeItDraws() throws Exception {
    await(fleet.load(weights(0)));
    server.adapters().clear();
    assertThat(draw(1).length()).isEqualTo(13);
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
        Wire wire = new Wire(Endpoint.of(sglang.base(), 1))) {
      LoadedAdapters adapters = new LoadedAdapters(wire);
      assertThat(adapters.load("1-a", Path.of("/x"), Dialect.SGLANG))
          .contains("rank 2 is above max_lora_rank");
      assertThat(sglang.requests().getFirst())
          .startsWith("POST /load_lora_adapter HTTP/1.1")
          .contains("\"lora_name\":\"1-a\"", "\"lora_path\":\"/x\"");
    }
  }

  @Test
  void load_weightsWithoutAdapters_saysWhatToSet() {
    assertThatThrownBy(() -> await(fleet.load(ToyFixture.weights(policy, 0))))
        .hasMessageContaining("set rollout.publish: merged");
  }
}
