package io.troupe.engine.http.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.engine.protocol.VersionSpan;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CompletionCodecTest {
  private static final GenerateRequest DRAW =
      new GenerateRequest(
          "r-1",
          "policy",
          new int[] {1, 2, 3},
          1,
          new SamplingSettings(1, 1, 0, 0, 1, 9, Set.of(7), List.of("\n\n"), false),
          9,
          42,
          "3-0123456789abcdef",
          Duration.ofMillis(100),
          "");

  /** Returns an answer as each server writes it. */
  private static String answer(Dialect dialect) {
    return switch (dialect) {
      case TROUPE, VLLM ->
          """
          {"choices":[{"index":0,"text":"x","token_ids":[5,6,7],"prompt_token_ids":[1,2,3],
            "finish_reason":"stop","stop_reason":7,"logprobs":{"token_logprobs":[-0.5,-1.5,-0.25]},
            "routed_experts":null}],"later_field":{"a":[1]}}\
          """;
      case VLLM_GENERATE ->
          """
          {"prompt_token_ids":[1,2,3],"choices":[{"index":0,"token_ids":[5,6,7],
            "finish_reason":"stop","logprobs":{"content":[{"token":"token_id:5","logprob":-0.5},
            {"token_id":6,"logprob":-1.5,"rank":2},{"token_id":7,"logprob":-0.25}]}}]}\
          """;
      case SGLANG ->
          """
          {"text":"x","output_ids":[5,6,7],"meta_info":{"id":"r1",
            "finish_reason":{"type":"stop","matched":7},
            "completion_tokens":3,"output_token_logprobs":[[-0.5,5,null],[-1.5,6,null],[-0.25,7,null]]}}\
          """;
      case LLAMA_SERVER ->
          """
          {"content":"x","tokens":[5,6,7],"stop":true,"stop_type":"eos","probs":[
            {"id":5,"logprob":-0.5},{"id":6,"logprob":-1.5},{"id":7,"logprob":-0.25}]}\
          """;
    };
  }

  @Test
  void body_adapter_isNamedAsEachServerWantsIt() {
    GenerateRequest request =
        new GenerateRequest(
            DRAW.id(),
            DRAW.model(),
            DRAW.prompt(),
            1,
            DRAW.settings(),
            9,
            42,
            "",
            Duration.ZERO,
            "3-0123456789abcdef");
    assertThat(Dialect.VLLM.codec().body(request, true).path("model").asText())
        .isEqualTo("3-0123456789abcdef");
    assertThat(Dialect.SGLANG.codec().body(request, true).path("lora_path").asText())
        .isEqualTo("3-0123456789abcdef");
    assertThat(Dialect.SGLANG.codec().body(DRAW, true).has("lora_path")).isFalse();
  }

  @ParameterizedTest
  @EnumSource(Dialect.class)
  void pieces_wholeAnswer_isTheSameInEveryDialect(Dialect dialect) throws Exception {
    CompletionAssembler assembly = new CompletionAssembler(1);
    for (CompletionChunk piece : dialect.codec().pieces(JsonFields.parse(answer(dialect)))) {
      assembly.add(piece);
    }
    RawCompletion sampled = assembly.tokensSoFar().getFirst();
    assertThat(sampled.tokens()).containsExactly(5, 6, 7);
    assertThat(sampled.logProbs()).containsExactly(-0.5, -1.5, -0.25);
    assertThat(sampled.finish()).isEqualTo(ServerFinishReason.STOP);
  }

  @ParameterizedTest
  @EnumSource(Dialect.class)
  void body_anyDialect_saysEverySamplingParameter(Dialect dialect) {
    JsonNode body = dialect.codec().body(DRAW, true);
    JsonNode sampling = body.has("sampling_params") ? body.path("sampling_params") : body;
    assertThat(sampling.path("temperature").asDouble(-1)).isEqualTo(1);
    assertThat(sampling.path("top_p").asDouble(-1)).isEqualTo(1);
    assertThat(sampling.path("top_k").asInt(-9)).isEqualTo(dialect == Dialect.SGLANG ? -1 : 0);
    assertThat(sampling.path("min_p").asDouble(-1)).isZero();
    assertThat(sampling.path("stop").path(0).asText()).isEqualTo("\n\n");
    assertThat(sampling.path("seed").asLong(-1) + sampling.path("sampling_seed").asLong(-1))
        .isEqualTo(41);
    assertThat(
            List.of(
                sampling.path("max_tokens").asInt(0),
                sampling.path("max_new_tokens").asInt(0),
                sampling.path("n_predict").asInt(0)))
        .contains(9);
    assertThat(body.path("stream").asBoolean()).isTrue();
  }

  /** A server that takes ids that end a completion gets all of them, in order. */
  @ParameterizedTest
  @EnumSource(Dialect.class)
  void body_idsThatEndACompletion_areSaid(Dialect dialect) {
    GenerateRequest request =
        new GenerateRequest(
            DRAW.id(),
            DRAW.model(),
            DRAW.prompt(),
            1,
            DRAW.settings().stoppingAt(Set.of(2, 11)),
            9,
            42,
            "",
            Duration.ZERO,
            "");
    JsonNode body = dialect.codec().body(request, true);
    JsonNode sampling = body.has("sampling_params") ? body.path("sampling_params") : body;
    String said = sampling.path("stop_token_ids").toString();
    assertThat(said).isEqualTo(dialect.codec().takesStopIds() ? "[2,7,11]" : "");
    assertThat(dialect.codec().takesStopIds()).isEqualTo(dialect != Dialect.LLAMA_SERVER);
  }

  @Test
  void upTo_tokenThatEndsACompletion_isItsLast() {
    RawCompletion sampled =
        new RawCompletion(
            new int[] {5, 6, 7, 8},
            new double[] {-1, -2, -3, -4},
            List.of(new VersionSpan("a", 0, 1), new VersionSpan("b", 1, 4)),
            ServerFinishReason.LENGTH,
            new int[0],
            OptionalInt.of(4));
    RawCompletion ended = sampled.firstTokens(Set.of(6, 8));
    assertThat(ended.tokens()).containsExactly(5, 6);
    assertThat(ended.logProbs()).containsExactly(-1, -2);
    assertThat(ended.versions())
        .containsExactly(new VersionSpan("a", 0, 1), new VersionSpan("b", 1, 2));
    assertThat(ended.finish()).isEqualTo(ServerFinishReason.STOP);
    assertThat(ended.counted()).isEmpty();
    assertThat(sampled.firstTokens(Set.of(8))).isSameAs(sampled);
    assertThat(sampled.firstTokens(Set.of(9))).isSameAs(sampled);
    RawCompletion untold =
        new RawCompletion(
            sampled.tokens(),
            new double[3],
            List.of(),
            ServerFinishReason.LENGTH,
            new int[0],
            OptionalInt.empty());
    assertThat(untold.firstTokens(Set.of(6))).isSameAs(untold); // refused as it is
  }

  @Test
  void pieces_serverWithoutTokenIds_readsThemFromTheTokensNames() throws Exception {
    List<CompletionChunk> pieces =
        Dialect.VLLM
            .codec()
            .pieces(
                JsonFields.parse(
                    """
                    {"choices":[{"index":0,"finish_reason":"length","logprobs":{
                      "tokens":["token_id:5","token_id:6"],"token_logprobs":[-0.5,null]}}]}\
                    """));
    assertThat(pieces.getFirst().tokens()).containsExactly(5, 6);
    assertThat(pieces.getFirst().logProbs()).containsExactly(-0.5, Double.NaN);
  }

  @Test
  void pieces_tokensAsWords_areRefused() {
    assertThatThrownBy(
            () ->
                Dialect.VLLM
                    .codec()
                    .pieces(
                        JsonFields.parse(
                            """
                            {"choices":[{"logprobs":{"tokens":["He"],"token_logprobs":[-1]}}]}\
                            """)))
        .isInstanceOf(MalformedResponseException.class)
        .hasMessage("the token 'He' has no id, and there are no token_ids");
  }

  @Test
  void add_interleavedChunksOfTwoCompletions_goWhereTheyBelong() throws Exception {
    CompletionAssembler assembly = new CompletionAssembler(2);
    for (String chunk :
        List.of(chunk(1, 5, ""), chunk(0, 4, ""), chunk(1, 6, "length"), chunk(0, 7, "stop"))) {
      for (CompletionChunk piece : Dialect.TROUPE.codec().pieces(JsonFields.parse(chunk))) {
        assembly.add(piece);
      }
    }
    assertThat(assembly.ended()).isTrue();
    assertThat(assembly.tokensSoFar().get(0).tokens()).containsExactly(4, 7);
    assertThat(assembly.tokensSoFar().get(1).tokens()).containsExactly(5, 6);
    assertThatThrownBy(
            () ->
                assembly.add(
                    Dialect.TROUPE.codec().pieces(JsonFields.parse(chunk(2, 5, ""))).getFirst()))
        .hasMessage("a message is for completion 2, and 2 were asked for");
  }

  private static String chunk(int index, int token, String finish) {
    return """
    {"choices":[{"index":%d,"token_ids":[%d],"logprobs":{"token_logprobs":[-1]},
      "finish_reason":%s}]}\
    """
        .formatted(index, token, finish.isEmpty() ? "null" : "\"" + finish + "\"");
  }

  @Test
  void add_cumulativeMessages_countTokensOnce() throws Exception {
    CompletionAssembler assembly = new CompletionAssembler(1);
    for (int n = 1; n <= 3; n++) {
      String pairs = String.join(",", List.of("[-1,5]", "[-1,6]", "[-1,7]").subList(0, n));
      String ids = String.join(",", List.of("5", "6", "7").subList(0, n));
      String message =
          """
          {"output_ids":[%s],"meta_info":{"finish_reason":null,"output_token_logprobs":[%s]}}\
          """
              .formatted(ids, pairs);
      assembly.add(Dialect.SGLANG.codec().pieces(JsonFields.parse(message)).getFirst());
    }
    assertThat(assembly.tokens()).isEqualTo(3);
    assertThat(assembly.ended()).isFalse();
  }
}
