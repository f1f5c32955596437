package io.troupe.console.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.console.http.ApiException;
import io.troupe.console.http.ConsoleJson;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The requests that a user may send to a policy. */
final class ChatRequestTest {
  private static final Chat.Open TEMPLATED = new Chat.Open(256, true, 0.8, 64, 200, "");
  private static final Chat.Open BARE = new Chat.Open(16, false, 1, 3, 15, "1+1=");

  private static ChatRequest read(String body, Chat.Open offer) throws ApiException, IOException {
    return ChatRequest.of(ConsoleJson.MAPPER.readTree(body), offer);
  }

  @Test
  void of_promptAlone_takesTheRunsOwnSettings() throws Exception {
    assertThat(read("{\"prompt\":\"hi\"}", TEMPLATED))
        .isEqualTo(new ChatRequest("hi", true, 0.8, 64));
    assertThat(read("{\"prompt\":\"1+\"}", BARE)).isEqualTo(new ChatRequest("1+", false, 1, 3));
  }

  @Test
  void of_everythingGiven_isTaken() throws Exception {
    assertThat(
            read(
                "{\"prompt\":\"hi\",\"template\":false,\"temperature\":0,\"max_tokens\":200}",
                TEMPLATED))
        .isEqualTo(new ChatRequest("hi", false, 0, 200));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {}                                        | prompt is a text
          {"prompt": ""}                            | prompt is a text
          {"prompt": ["a"]}                         | prompt is a text
          {"prompt": "a", "temperature": -0.1}      | temperature is a number in 0 to 5, not -0.1
          {"prompt": "a", "temperature": 5.1}       | temperature is a number in 0 to 5, not 5.1
          {"prompt": "a", "temperature": "1"}       | temperature is a number in 0 to 5, not "1"
          {"prompt": "a", "temperature": null}      | temperature is a number in 0 to 5, not null
          {"prompt": "a", "max_tokens": 0}          | max_tokens is a whole number in 1 to 15, not 0
          {"prompt": "a", "max_tokens": 16}         | max_tokens is a whole number in 1 to 15, not 16
          {"prompt": "a", "max_tokens": 1.5}        | max_tokens is a whole number in 1 to 15
          {"prompt": "a", "max_tokens": 5000000000} | max_tokens is a whole number in 1 to 15
          {"prompt": "a", "template": 1}            | template is true or false
          {"prompt": "a", "template": true}         | this policy has no chat template
          {"prompt": "a", "top_p": 0.5}             | a question has no 'top_p'; it has max_tokens
          """)
  void of_unfit_saysTheRuleAndTheValue(String body, String sentence) {
    assertThatThrownBy(() -> read(body, BARE))
        .isInstanceOf(ApiException.class)
        .hasMessageStartingWith(sentence);
  }

  @Test
  void room_longPrompt_leavesTheRestOfTheContext() {
    ChatRequest ask = new ChatRequest("x", false, 1, 8);
    assertThat(ask.room(4, 16)).isEqualTo(8);
    assertThat(ask.room(15, 16)).isEqualTo(1);
    assertThat(ChatRequest.objection(15, 16)).isEmpty();
    assertThat(ChatRequest.objection(16, 16).orElseThrow()).endsWith("shorten it by at least 1");
    assertThat(ChatRequest.objection(0, 16).orElseThrow()).startsWith("the prompt has no token");
  }
}
