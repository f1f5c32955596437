package io.troupe.gateway.dialog;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.JinjaChatTemplate;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.format.BridgedFormat;
import io.troupe.environments.format.HermesFormat;
import java.time.Clock;
import java.util.Arrays;
import java.util.Map;

/** A policy over characters whose conversations are in ChatML. */
public final class ChatmlFixture {
  static final MarkupTokenizer TOKENIZER = new MarkupTokenizer();

  /** ChatML as Qwen2.5 writes it, in short. */
  private static final String CHATML =
      """
      {%- if tools %}<|im_start|>system
      {% for tool in tools %}{{ tool | tojson }}
      {% endfor %}<|im_end|>
      {% endif %}
      {%- for m in messages %}
      {%- if m.role == 'tool' %}<|im_start|>user
      <tool_response>
      {{ m.content }}
      </tool_response><|im_end|>
      {% else %}<|im_start|>{{ m.role }}
      {{ m.content }}
      {%- for call in m.tool_calls %}
      <tool_call>
      {"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
      </tool_call>
      {%- endfor %}<|im_end|>
      {% endif %}
      {%- endfor %}
      {%- if add_generation_prompt %}<|im_start|>assistant
      {% endif %}""";

  private ChatmlFixture() {}

  /** Conversations in the format of Hermes. */
  public static TemplateConversation conversation() {
    return conversation(CHATML);
  }

  static TemplateConversation conversation(String source) {
    ChatTemplate template = JinjaChatTemplate.of(source, Map.of(), Clock.systemUTC());
    return new TemplateConversation(TOKENIZER, template, new BridgedFormat(new HermesFormat(), ""));
  }

  /** The tokenizer of the policy. */
  public static Tokenizer tokenizer() {
    return TOKENIZER;
  }

  /** The template of the conversations. */
  public static ChatTemplate template() {
    return JinjaChatTemplate.of(CHATML, Map.of(), Clock.systemUTC());
  }

  /** Returns the request to the policy, its special tokens spelled out. */
  public static String shown(int[] ids) {
    return MarkupTokenizer.shown(ids);
  }

  /** An answer that the policy ended itself, or that was cut. */
  public static Completion completion(String answer, boolean ended) {
    int[] text = TOKENIZER.encode(answer);
    int[] ids = ended ? Arrays.copyOf(text, text.length + 1) : text;
    if (ended) {
      ids[text.length] = MarkupTokenizer.END;
    }
    return new Completion(
        ids,
        new float[ids.length],
        TokenVersions.uniform(WeightVersion.BASE, ids.length),
        ended ? FinishReason.STOP : FinishReason.LENGTH);
  }
}
