package io.troupe.chat;

import static io.troupe.chat.Thinking.AUTO;
import static io.troupe.chat.Thinking.FALSE;
import static io.troupe.chat.Thinking.TRUE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What templates are told of thinking, and which choices they can follow. */
final class ThinkingTest {
  private static final String TURNS =
      "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>";

  private static ChatTemplate template(String begin) {
    return JinjaChatTemplate.of(TURNS + begin, Map.of(), Clock.systemUTC());
  }

  private static String asked(ChatTemplate template, Thinking thinking) {
    return template.render(List.of(ChatTemplate.Message.user("q")), true, thinking.arguments());
  }

  @Test
  void arguments_ofBothNames_chooseAlike() {
    for (String name : List.of("enable_thinking", "thinking")) {
      ChatTemplate template = template("{% if not " + name + " %}<think></think>{% endif %}");

      assertThat(asked(template, AUTO)).isEqualTo("<|user|>q<|assistant|><think></think>");
      assertThat(asked(template, FALSE)).isEqualTo(asked(template, AUTO));
      assertThat(asked(template, TRUE)).isEqualTo("<|user|>q<|assistant|>");
      assertThat(FALSE.objection(template)).isEmpty();
      assertThat(TRUE.objection(template)).isEmpty();
    }
  }

  @Test
  void objection_aTemplateThatNeverThinks_refusesBothChoices() {
    ChatTemplate plain = template("");

    assertThat(AUTO.objection(plain)).isEmpty();
    assertThat(FALSE.objection(plain).orElseThrow()).contains("does not depend on it");
    assertThat(TRUE.objection(plain).orElseThrow()).contains("leave it out");
  }

  @Test
  void objection_aTemplateThatAlwaysOpensAThought_takesTrueAlone() {
    ChatTemplate always = template("<think>\n");

    assertThat(AUTO.objection(always)).isEmpty();
    assertThat(TRUE.objection(always)).isEmpty();
    assertThat(FALSE.objection(always).orElseThrow()).contains("opens a thought in every answer");
  }

  @Test
  void in_aTemplate_isTheChoiceOfEveryRenderingThatSaysNothingElse() {
    ChatTemplate own = template("{% if enable_thinking %}<think>{% endif %}");
    ChatTemplate thinks = TRUE.in(Optional.of(own)).orElseThrow();
    List<ChatTemplate.Message> asked = List.of(ChatTemplate.Message.user("q"));

    assertThat(thinks.render(asked, true, Map.of())).endsWith("<think>");
    assertThat(thinks.render(asked, true, FALSE.arguments())).endsWith("<|assistant|>");
    assertThat(AUTO.in(Optional.empty())).isEmpty();
  }

  @Test
  void in_aTemplateThatCannotFollow_isRefusedByTheKey() {
    assertThatThrownBy(() -> TRUE.in(Optional.of(template(""))))
        .hasMessageStartingWith("policy.thinking (true): the text of the chat template");
    assertThatThrownBy(() -> FALSE.in(Optional.empty()))
        .hasMessage("policy.thinking (false): the policy has no chat template; leave it out");
  }
}
