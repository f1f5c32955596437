package io.troupe.engine.http.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.engine.Scorer.Scores;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The shapes follow the servers' documentation; the numbers are made up. */
class ScoreCodecTest {
  private static final int[] TOKENS = {3, 5, 9};

  /** vLLM tells the K likeliest and the token itself, which may be one more, in no fixed order. */
  private static final String VLLM =
      """
      {"id":"cmpl-1","object":"text_completion","model":"m","choices":[{"index":0,"text":"x",
        "token_ids":[4],"finish_reason":"length","prompt_logprobs":[null,
          {"5":{"logprob":-2.5,"rank":7,"decoded_token":"e"},
           "7":{"logprob":-0.25,"rank":1,"decoded_token":"g"},
           "8":{"logprob":-1.75,"rank":2,"decoded_token":"h"}},
          {"9":{"logprob":-0.5,"rank":1,"decoded_token":"i"},
           "2":{"logprob":-1.0,"rank":2,"decoded_token":"b"}}]}],
        "usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}\
      """;

  private static final String SGLANG =
      """
      {"text":"x","output_ids":[4],"meta_info":{"id":"r","prompt_tokens":3,
        "input_token_logprobs":[[null,3,null],[-2.5,5,null],[-0.5,9,null]],
        "input_top_logprobs":[null,[[-0.25,7,null],[-1.75,8,null]],[[-0.5,9,null],[-1.0,2,null]]],
        "output_token_logprobs":[[-0.1,4,null]],"output_top_logprobs":[[]],
        "finish_reason":{"type":"length","length":1}}}\
      """;

  private static String answer(Dialect dialect) {
    return dialect == Dialect.SGLANG ? SGLANG : VLLM;
  }

  private static Scores read(Dialect dialect, String answer, int topK) throws Exception {
    return new ScoreCodec(dialect, "m").scores(JsonFields.parse(answer), TOKENS, topK);
  }

  @ParameterizedTest
  @EnumSource(names = {"TROUPE", "VLLM", "SGLANG"})
  void scores_documentedShape_isTheSameInEveryDialect(Dialect dialect) throws Exception {
    Scores scores = read(dialect, answer(dialect), 2);
    assertThat(scores.logProbs()).containsExactly(-2.5, -0.5);
    assertThat(scores.likeliest().ids()).isDeepEqualTo(new int[][] {{7, 8}, {9, 2}});
    assertThat(scores.likeliest().logProbs())
        .isDeepEqualTo(new float[][] {{-0.25f, -1.75f}, {-0.5f, -1.0f}});
    assertThat(read(dialect, answer(dialect), 0).likeliest().topK()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "VLLM|\"5\":{\"logprob\":-2.5|\"6\":{\"logprob\":-2.5|lacks its own token, 5",
        "VLLM|-2.5|NaN|log-probability in place 1 is NaN",
        "VLLM|-2.5|0.5|log-probability in place 1 is 0.5",
        "VLLM|[null,|[|of 2 places for 3 tokens",
        "VLLM|\"2\":{|\"b\":{|is no token id",
        "SGLANG|[-2.5,5,null]|[-2.5,6,null]|place 1 is of token 6, not 5",
        "SGLANG|[-2.5,5,null]|[null,5,null]|log-probability in place 1 is NaN",
        "SGLANG|[[-0.25,7,null],[-1.75,8,null]]|[[-0.25,7,null]]|place 1 has 1 tokens, and 2",
        "SGLANG|[[null,3,null],|[|of 2 places for 3 tokens"
      })
  void scores_gap_isRefusedWithItsPlace(
      Dialect dialect, String whole, String damaged, String message) {
    assertThat(answer(dialect)).contains(whole);
    assertThatThrownBy(() -> read(dialect, answer(dialect).replace(whole, damaged), 2))
        .isInstanceOf(MalformedResponseException.class)
        .hasMessageContaining(message);
  }

  @Test
  void body_eachDialect_asksForEveryPlaceAtTemperatureOne() {
    assertThat(new ScoreCodec(Dialect.VLLM, "m").body(TOKENS, 2).toString())
        .contains("\"prompt\":[3,5,9]", "\"prompt_logprobs\":2", "\"temperature\":1.0")
        .contains("\"max_tokens\":1");
    assertThat(new ScoreCodec(Dialect.TROUPE, "m").body(TOKENS, 2).toString())
        .contains("\"max_tokens\":0");
    assertThat(new ScoreCodec(Dialect.SGLANG, "m").body(TOKENS, 2).toString())
        .contains("\"input_ids\":[3,5,9]", "\"logprob_start_len\":0", "\"top_logprobs_num\":2");
  }
}
