package io.troupe.chat;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.chat.TurnEnd.EndText;
import io.troupe.chat.TurnEnd.EndToken;
import io.troupe.chat.TurnEnd.Unmarked;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The ends that templates write behind an answer. */
final class TurnEndTest {
  private static final SpellingTokenizer LLAMA =
      new SpellingTokenizer(
          List.of("<|end_of_text|>", "<|eom_id|>", "<|eot_id|>", "<|start_header_id|>", "<h>"),
          List.of("<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"));
  private static final SpellingTokenizer BASE =
      new SpellingTokenizer(
          List.of("<|endoftext|>", "<|im_start|>", "<|im_end|>"), List.of("<|endoftext|>"));

  private static TurnEnd end(SpellingTokenizer tokenizer, String turn) {
    ChatTemplate template =
        JinjaChatTemplate.of(
            "{% for m in messages %}%s{% endfor %}".replace("%s", turn),
            Map.of("eos_token", "<|endoftext|>"),
            Clock.systemUTC());
    return TurnEnd.of(template, tokenizer);
  }

  @Test
  void of_aTemplateWithANewlineBehindTheEnd_isItsTokenThoughTheCheckpointNamesAnother() {
    TurnEnd end = end(BASE, "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n");

    assertThat(end).isEqualTo(new EndToken(2, "<|im_end|>"));
    assertThat(end.stopIds()).containsExactly(2);
    assertThat(end.ids(BASE)).containsExactly(2);
    assertThat(end.described(BASE)).isEqualTo("<|im_end|> (2)");
  }

  @Test
  void of_aTemplateThatRefusesAConversation_isAskedWithASystemMessage() {
    String turn = "{{ m.role }}\n{{ m.content }}<|im_end|>";

    assertThat(
            end(
                BASE,
                "{% if messages[0].role != 'system' %}{{ raise_exception('no') }}{% endif %}"
                    + turn))
        .isEqualTo(new EndToken(2, "<|im_end|>"));
    assertThat(end(BASE, "{{ raise_exception('no') }}")).isEqualTo(new Unmarked());
  }

  @Test
  void of_oneOfThreeEnds_isTheTemplatesAndNotTheFirst() {
    assertThat(end(LLAMA, "<|start_header_id|>{{ m.role }}\n\n{{ m.content | trim }}<|eot_id|>"))
        .isEqualTo(new EndToken(2, "<|eot_id|>"));
  }

  @Test
  void of_blanksBeforeTheEnd_isTheToken() {
    assertThat(end(BASE, "{{ m.role }}: {{ m.content }} {{ eos_token }}"))
        .isEqualTo(new EndToken(0, "<|endoftext|>"));
  }

  @Test
  void of_anEndThatIsNoSpecialToken_isAStopString() {
    TurnEnd end = end(BASE, "{{ m.role }}: {{ m.content }}\n### End\n");

    assertThat(end).isEqualTo(new EndText("### End"));
    assertThat(end.stops()).containsExactly("### End");
    assertThat(end.stopIds()).isEmpty();
    assertThat(end.ids(BASE)).isEqualTo(BASE.encode("### End"));
  }

  @Test
  void of_aTemplateWithoutAnEnd_isTheCheckpointsOwn() {
    TurnEnd end = end(BASE, "<|im_start|>{{ m.role }}\n{{ m.content }}\n");

    assertThat(end).isEqualTo(new Unmarked());
    assertThat(end.stopIds()).isEmpty();
    assertThat(end.ids(BASE)).containsExactly(0);
  }

  @Test
  void of_anEndOfPastTurnsOnly_isThatEndIfTheCheckpointNamesIt() {
    String turn = "{{ m.role }}: {{ m.content }}{% if not loop.last %}<|eot_id|>{% endif %}";

    assertThat(end(LLAMA, turn)).isEqualTo(new EndToken(2, "<|eot_id|>"));
    assertThat(end(LLAMA, "<h>{{ m.role }}: {{ m.content }}")).isEqualTo(new Unmarked());
  }
}
