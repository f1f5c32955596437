package io.troupe.engine.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.rollout.Completion;
import io.troupe.engine.Adapter;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.protocol.Retry;
import io.troupe.engine.toy.ToyPolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What SGLang does differently when it cuts, fails, or has lost an adapter. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SglangTest {
  private static final SamplingSettings PLAIN = new SamplingSettings(1, 20);

  @TempDir private Path folder;
  private final ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
  private FakeSglang server;
  private FleetSampler fleet;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeSglang(policy.tokenizer().endOfSequence(), true);
    fleet =
        new FleetSampler(
            policy.tokenizer(),
            policy.contextLength(),
            WeightShelf.open(
                Publishing.ADAPTERS, folder.resolve("shelf"), _ -> {}, WeightShelf.Lying.nowhere()),
            new Retry(50, Duration.ofMillis(1), Duration.ofMillis(200)));
    fleet.join("fake", Endpoint.of(server.base(), 8));
    WeightSnapshot merged = ToyFixture.weights(policy, 0);
    fleet
        .load(merged.with(new Adapter(2, 4, List.of("q_proj"), merged.tensors())))
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS);
  }

  @AfterEach
  void end() throws IOException {
    fleet.close();
    server.close();
    policy.close();
  }

  private Completion draw(SamplingSettings settings) throws Exception {
    SampleRequest plain = FleetSamplerTest.request(1, 1);
    return fleet
        .sample(List.of(new SampleRequest(plain.lease(), plain.prompt(), 1, settings, 1)))
        .getFirst()
        .toCompletableFuture()
        .get(60, TimeUnit.SECONDS)
        .getFirst();
  }

  @Test
  void sample_aborted_isWhatItWouldHaveBeenUncut() throws Exception {
    int[] uncut = draw(PLAIN).tokens();
    server.end(new FakeSglang.End(5, "{\"type\":\"abort\"}"));
    server.end(new FakeSglang.End(0, "{\"type\":\"abort\"}"));
    assertThat(draw(PLAIN).tokens()).isEqualTo(uncut).hasSize(13);
    assertThat(fleet.report()).contains("drawn_on=2");
  }

  /** The tokens before the cut would not be penalised, and the rest have another distribution. */
  @Test
  void sample_abortedWithARepetitionPenalty_isNotDrawnOn() {
    server.end(new FakeSglang.End(5, "{\"type\":\"abort\"}"));
    SamplingSettings penalised =
        new SamplingSettings(1, 1, 0, 0, 1.1, 20, Set.of(), List.of(), false);
    assertThatThrownBy(() -> draw(penalised))
        .hasMessageContaining("completion 0 was cut after 5 tokens and is not drawn on")
        .hasMessageContaining("set rollout.repetition_penalty to 1");
    assertThat(server.draws()).hasSize(1);
  }

  @Test
  void sample_abortThatMeansARefusal_failsWithItsReason() {
    server.end(
        new FakeSglang.End(0, "{\"type\":\"abort\",\"message\":\"too long\",\"status_code\":400}"));
    assertThatThrownBy(() -> draw(PLAIN)).hasMessageContaining("bad request (400): too long");
    assertThat(server.draws()).hasSize(1);
  }

  @Test
  void sample_abortThatMeansAFailure_isTriedAgain() throws Exception {
    server.end(
        new FakeSglang.End(
            0, "{\"type\":\"abort\",\"message\":\"out of memory\",\"status_code\":500}"));
    assertThat(draw(PLAIN).length()).isEqualTo(13);
    // a request that found its kept connection closed counts as well
    assertThat(fleet.report()).containsPattern("retries=[1-9][0-9]* drawn_on=0");
  }

  @Test
  void sample_serverLostItsAdapters_getsThemAgainBeforeItDraws() throws Exception {
    Set<String> loaded = Set.copyOf(server.adapters());
    server.adapters().clear();
    assertThat(draw(PLAIN).length()).isEqualTo(13);
    assertThat(server.adapters()).isEqualTo(loaded).hasSize(1);
  }

  @Test
  void probe_routesButNoEnableLora_findsNoAdapters() throws Exception {
    try (FakeSglang other = new FakeSglang(1, false);
        Wire without = new Wire(Endpoint.of(other.base(), 1));
        Wire with = new Wire(Endpoint.of(server.base(), 1))) {
      assertThat(CapabilityProbe.probe(with).has(Capability.ADAPTERS)).isTrue();
      assertThat(CapabilityProbe.probe(without).objections(false, Publishing.ADAPTERS))
          .anyMatch(objection -> objection.contains("start it with --enable-lora"));
    }
  }
}
