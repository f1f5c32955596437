package io.troupe.engine.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.fleet.LlamaServer;
import io.troupe.engine.http.fleet.TinyGguf;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.Capability;
import io.troupe.engine.http.probe.CapabilityProbe;
import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.CheckedCompletion;
import io.troupe.engine.http.protocol.CompletionAssembler;
import io.troupe.engine.http.protocol.CompletionCheck;
import io.troupe.engine.http.protocol.CompletionChunk;
import io.troupe.engine.http.protocol.CompletionCodec;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.http.protocol.LoadReport;
import io.troupe.engine.http.protocol.PartialCompletion;
import io.troupe.engine.http.protocol.RawCompletion;
import io.troupe.engine.http.protocol.ServerFinishReason;
import io.troupe.engine.http.protocol.VersionReporting;
import io.troupe.engine.http.score.HttpScorer;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.serve.ToyFixture;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The expectations of our clients of any server: of {@code troupe serve}; of the real vLLM, SGLang
 * or llama-server whose URL the environment variable TROUPE_TEST_ENDPOINT holds (and
 * TROUPE_TEST_ENDPOINT_KEY its key); or of the llama-server program that TROUPE_LLAMA_SERVER names,
 * which is started with a tiny model. It changes nothing on the server.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClientConformanceTest {
  private static final int[] PROMPT = {3, 4, 5};
  private static final int TOKENS = 12;
  private static final WeightTag TAG = new WeightTag(new WeightVersion(0), "0".repeat(16));
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static Optional<ToyFixture> toy = Optional.empty();
  private static Optional<LlamaServer> llama = Optional.empty();
  private static InferenceEndpoint endpoint = InferenceEndpoint.of("http://127.0.0.1:1", 1);
  private static final ScheduledExecutorService CLOCK =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());

  @BeforeAll
  static void open() throws Exception {
    Optional<String> url = environment("TROUPE_TEST_ENDPOINT");
    Optional<String> program = environment("TROUPE_LLAMA_SERVER");
    if (url.isPresent()) {
      String key = environment("TROUPE_TEST_ENDPOINT_KEY").orElse("");
      endpoint =
          new InferenceEndpoint(URI.create(url.get()), key, 8, InferenceEndpoint.Patience.DEFAULT);
    } else if (program.isPresent()) {
      llama = Optional.of(LlamaServer.start(program.get()));
      endpoint = InferenceEndpoint.of(llama.get().base(), 8);
    } else {
      toy = Optional.of(ToyFixture.loaded(Duration.ofMillis(1)));
      endpoint = InferenceEndpoint.of(toy.get().base(), 8);
    }
  }

  private static Optional<String> environment(String name) {
    return Optional.ofNullable(System.getenv(name)).filter(value -> !value.isBlank());
  }

  @AfterAll
  static void close() {
    toy.ifPresent(ToyFixture::close);
    llama.ifPresent(LlamaServer::close);
    CLOCK.shutdownNow();
  }

  private record Client(InferenceClient wire, Capabilities can) implements AutoCloseable {
    static Client open() throws InterruptedException {
      InferenceClient wire = new InferenceClient(endpoint);
      return new Client(wire, CapabilityProbe.probe(wire));
    }

    private GenerateRequest request(long seed, int tokens, int[] prompt) {
      return new GenerateRequest(
          "conformance-" + seed,
          can.model(),
          prompt,
          1,
          new SamplingSettings(1, tokens),
          tokens,
          seed,
          "",
          Duration.ofMillis(5),
          "");
    }

    StreamingCall start(long seed, int tokens, int... prompt) {
      return wire.sample(can.dialect(), request(seed, tokens, prompt), () -> false, CLOCK);
    }

    RawCompletion sample(long seed) throws Exception {
      return get(start(seed, TOKENS, PROMPT));
    }

    RawCompletion sampleInOnePiece(long seed) throws Exception {
      CompletionCodec codec = can.dialect().codec();
      InferenceClient.Response answer =
          wire.post(codec.path(), codec.body(request(seed, TOKENS, PROMPT), false), PATIENCE);
      CompletionAssembler assembly = new CompletionAssembler(1);
      for (CompletionChunk piece : codec.pieces(answer.json())) {
        assembly.add(piece);
      }
      return assembly.tokensSoFar().getFirst();
    }

    private static RawCompletion get(StreamingCall call) throws Exception {
      return call.result().toCompletableFuture().get(60, TimeUnit.SECONDS).getFirst();
    }

    @Override
    public void close() {
      wire.close();
    }
  }

  @Test
  void probe_server_canDoWhatSamplingNeeds() throws Exception {
    try (Client client = Client.open()) {
      assertThat(client.can().all())
          .as(client.can().line())
          .contains(
              Capability.TOKEN_IDS,
              Capability.LOG_PROBS,
              Capability.SAMPLED_LOG_PROBS,
              Capability.STREAM);
    }
  }

  @Test
  void draw_streamed_hasIdsLogProbsAndAnEnd() throws Exception {
    try (Client client = Client.open()) {
      RawCompletion sampled = client.sample(7);
      assertThat(sampled.tokens()).hasSizeBetween(1, TOKENS);
      assertThat(sampled.logProbs()).hasSize(sampled.tokens().length);
      for (double logProb : sampled.logProbs()) {
        assertThat(logProb).isBetween(-100.0, 1e-3);
      }
      assertThat(sampled.finish()).isIn(ServerFinishReason.STOP, ServerFinishReason.LENGTH);
      assertThat(sampled.finish() == ServerFinishReason.LENGTH)
          .isEqualTo(sampled.counted().orElse(sampled.tokens().length) == TOKENS);
      if (sampled.prompt().length > 0) {
        assertThat(sampled.prompt()).isEqualTo(PROMPT);
      }
    }
  }

  @Test
  void draw_sameSeed_isTheSameAndOthersDiffer() throws Exception {
    try (Client client = Client.open()) {
      int[] first = client.sample(7).tokens();
      assertThat(client.sample(7).tokens()).isEqualTo(first);
      boolean differs = false;
      for (long seed = 8; seed < 16; seed++) {
        differs |= !Arrays.equals(client.sample(seed).tokens(), first);
      }
      assertThat(differs).isTrue();
    }
  }

  @Test
  void draw_streamed_isWhatAnAnswerInOnePieceIs() throws Exception {
    try (Client client = Client.open()) {
      for (long seed = 0; seed < 8; seed++) {
        RawCompletion streamed = client.sample(seed);
        if (streamed.counted().orElse(streamed.tokens().length) != streamed.tokens().length) {
          continue; // refused by the check, whatever the answer in one piece
        }
        RawCompletion whole = client.sampleInOnePiece(seed);
        assertThat(streamed.tokens()).isEqualTo(whole.tokens());
        assertThat(streamed.logProbs()).containsExactly(whole.logProbs(), Offset.offset(1e-4));
        assertThat(streamed.finish()).isEqualTo(whole.finish());
      }
    }
  }

  @Test
  void draw_seedsOfAllBits_areTaken() throws Exception {
    try (Client client = Client.open()) {
      for (long seed : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, 0xFFFF_FFFFL, 1L << 32}) {
        assertThat(client.sample(seed).tokens()).isEqualTo(client.sample(seed).tokens());
      }
    }
  }

  /** llama-server reports no token after which a character is not whole, but it counts them. */
  @Test
  void draw_tokensThatEndWithinACharacter_areMissedByTheCheck() throws Exception {
    assumeTrue(llama.isPresent());
    try (Client client = Client.open()) {
      CompletionCheck check =
          new CompletionCheck(
              PartialCompletion.NONE,
              PROMPT,
              TinyGguf.VOCABULARY,
              TOKENS,
              Set.of(TinyGguf.END),
              false,
              TAG,
              Map.of(),
              VersionReporting.NOTHING);
      Set<CheckedCompletion.Reason> reasons = EnumSet.noneOf(CheckedCompletion.Reason.class);
      int sound = 0;
      for (long seed = 0; seed < 100; seed++) {
        RawCompletion sampled = client.sample(seed);
        switch (check.check(sampled)) {
          case CheckedCompletion.Usable(var completion) -> {
            sound++;
            assertThat(completion.tokens()).hasSize(sampled.counted().getAsInt());
            assertThat(completion.tokens()).doesNotContain(TinyGguf.FIRST_HALF);
          }
          case CheckedCompletion.Cut(var head) ->
              throw new AssertionError("nobody cut it: " + head);
          case CheckedCompletion.Refused(CheckedCompletion.Reason reason, var _) ->
              reasons.add(reason);
        }
      }
      assertThat(sound).isPositive();
      assertThat(reasons)
          .contains(CheckedCompletion.Reason.TOKENS_MISSING)
          .isSubsetOf(CheckedCompletion.Reason.TOKENS_MISSING, CheckedCompletion.Reason.EMPTY);
    }
  }

  @Test
  void draw_promptLongerThanTheContext_isRefusedWithItsReason() throws Exception {
    try (Client client = Client.open()) {
      int longest = client.can().maxModelLen() > 0 ? client.can().maxModelLen() : 1 << 20;
      int[] prompt = new int[longest + 1];
      Arrays.fill(prompt, PROMPT[0]);
      assertThatThrownBy(() -> Client.get(client.start(1, 1, prompt)))
          .cause()
          .isInstanceOfSatisfying(
              InferenceCallException.class,
              refused -> {
                assertThat(refused.fault().kind()).isEqualTo(CallFailure.Kind.BAD_REQUEST);
                assertThat(refused.fault().message()).isNotBlank();
              });
    }
  }

  @Test
  void post_badRequest_isRefusedWithItsReasonAndNotAgain() throws Exception {
    try (Client client = Client.open()) {
      InferenceClient.Response answer =
          client.wire().post(path(client), JsonFields.object(), PATIENCE);
      assertThat(answer.status()).isBetween(400, 499);
      assertThat(answer.fault().kind()).isEqualTo(CallFailure.Kind.BAD_REQUEST);
      assertThat(answer.fault().message()).isNotBlank();
    }
  }

  private static String path(Client client) {
    return client.can().dialect().codec().path();
  }

  @Test
  void post_otherModel_isItsOwnFault() throws Exception {
    try (Client client = Client.open()) {
      assumeTrue(
          client.can().dialect() == Dialect.TROUPE || client.can().dialect() == Dialect.VLLM);
      ObjectNode body = JsonFields.object().put("model", "no-such-model").put("max_tokens", 1);
      body.putArray("prompt").add(3);
      assertThat(client.wire().post(path(client), body, PATIENCE).fault().kind())
          .isEqualTo(CallFailure.Kind.NO_MODEL);
    }
  }

  @Test
  void get_missingRoute_isItsOwnFault() throws Exception {
    try (Client client = Client.open()) {
      assertThat(client.wire().get("/no/such/route", PATIENCE).fault().kind())
          .isEqualTo(CallFailure.Kind.NO_ROUTE);
    }
  }

  @Test
  void cancel_manyInARow_leavesTheServerUsable() throws Exception {
    try (Client client = Client.open()) {
      for (int i = 0; i < 100; i++) {
        StreamingCall call = client.start(i, TOKENS, PROMPT);
        call.cancel();
        // A quick server may have been first; either way the call is over.
        assertThat(
                call.result()
                    .handle((_, _) -> true)
                    .toCompletableFuture()
                    .get(60, TimeUnit.SECONDS))
            .isTrue();
      }
      assertThat(client.sample(1).tokens()).isNotEmpty();
    }
  }

  @Test
  void score_ownCompletions_areWhatWasSaidWhenTheyWereSampled() throws Exception {
    try (Client client = Client.open()) {
      assumeTrue(client.can().has(Capability.PROMPT_LOG_PROBS));
      try (HttpScorer scorer = HttpScorer.open(endpoint)) {
        assertThat(scorer.score(PROMPT, 2).likeliest().topK()).isEqualTo(2);
      }
    }
  }

  @Test
  void get_metrics_tellAFiniteLoad() throws Exception {
    try (Client client = Client.open()) {
      assumeTrue(client.can().has(Capability.METRICS));
      String text = client.wire().get("/metrics", PATIENCE).body();
      assertThat(List.of(text.split("\n", -1))).isNotEmpty();
      assertThat(LoadReport.parse(text).running().orElse(0)).isNotNegative();
    }
  }
}
