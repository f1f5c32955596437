package io.troupe.tasks.supervised;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.JinjaChatTemplate;
import io.troupe.chat.Thinking;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.engine.Tokenizer;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What rows of conversations come to, by a template in the manner of Qwen3's. */
final class ImitatedTurnsTest {
  private static final String QWEN =
      """
      {%- if tools %}[tools
      {%- for tool in tools %} {{ tool.function.name }}{% endfor %}]
      {% endif %}
      {%- for m in messages %}
      {%- set c = m.content if m.content is string else '' %}
      {%- set t = m.reasoning_content if m.reasoning_content is string else '' %}
      {%- if not t and '</think>' in c %}
      {%- set t = c.split('</think>')[0].split('<think>')[-1].strip('\\n') %}
      {%- set c = c.split('</think>')[-1].lstrip('\\n') %}
      {%- endif %}
      {%- if m.role == 'assistant' %}[assistant:
      {%- if loop.last %}<think>{{ t }}</think>{% endif %}{{ c }}{{ m.mood }}
      {%- for call in m.tool_calls %}<call>{{ call.function | tojson }}</call>{% endfor %}]
      {% else %}[{{ m.role }}:{{ c }}{{ m.mood }}]
      {% endif %}
      {%- endfor %}
      {%- if add_generation_prompt %}[assistant:
      {%- if not enable_thinking %}<think></think>{% endif %}{% endif %}\
      """;

  @TempDir private Path folder;

  /** One id a character; {@code [} and {@code ]} are special, and a text ends with {@code $}. */
  private static final class Brackets implements Tokenizer {
    @Override
    public int[] encode(String text) {
      return text.codePoints().toArray();
    }

    @Override
    public int[] encodeWithSpecial(String text) {
      return encode(text);
    }

    @Override
    public String decode(int[] tokens) {
      return new String(tokens, 0, tokens.length);
    }

    @Override
    public byte[] bytes(int token) {
      return token == '[' || token == ']'
          ? new byte[0]
          : Character.toString(token).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public int vocabularySize() {
      return Character.MAX_CODE_POINT;
    }

    @Override
    public int endOfSequence() {
      return '$';
    }

    @Override
    public Set<Integer> endIds() {
      return Set.of((int) '$');
    }
  }

  private static ChatTemplate template(String source, Thinking thinking) {
    return thinking
        .in(Optional.of(JinjaChatTemplate.of(source, Map.of(), Clock.systemUTC())))
        .orElseThrow();
  }

  private List<String> learnt(ChatTemplate template, String row) throws IOException {
    Path file = Files.writeString(folder.resolve("rows.jsonl"), row.replace('\'', '"') + "\n");
    SupervisedRow read =
        new SupervisedFormat("messages", "prompt", "completion", "source", true, Set.of())
            .read(List.of(file))
            .getFirst();
    return new SupervisedTokens(template, new Brackets())
        .examples(read).stream().map(ImitatedTurnsTest::shown).toList();
  }

  /** The text of an example, what is imitated between {@code ⟦} and {@code ⟧}. */
  private static String shown(SupervisedExample example) {
    StringBuilder text = new StringBuilder();
    for (int token : example.prompt()) {
      text.appendCodePoint(token);
    }
    boolean in = false;
    for (int t = 0; t < example.completion().length; t++) {
      if (example.imitated()[t] != in) {
        text.append(in ? "⟧" : "⟦");
        in = !in;
      }
      text.appendCodePoint(example.completion()[t]);
    }
    return text.append(in ? "⟧" : "").toString().replace("\n", "");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          plain|{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': 'd'}]}|[user:q][assistant:<think></think>⟦d]⟧
          spelled like the end|{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': 'a]'}]}|[user:q][assistant:<think></think>⟦a]]⟧
          thought in the content|{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': '<think>add</think>2'}]}|[user:q][assistant:⟦<think>add</think>2]⟧
          reasoning_content|{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': '2', 'reasoning_content': 'add'}]}|[user:q][assistant:⟦<think>add</think>2]⟧
          reasoning|{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': '2', 'reasoning': 'add'}]}|[user:q][assistant:⟦<think>add</think>2]⟧
          prompt and completion|{'prompt': [{'role': 'user', 'content': 'q'}], 'completion': [{'role': 'assistant', 'content': '2'}]}|[user:q][assistant:<think></think>⟦2]⟧
          ShareGPT|{'conversations': [{'from': 'system', 'value': 's'}, {'from': 'human', 'value': 'q'}, {'from': 'gpt', 'value': '2'}]}|[system:s][user:q][assistant:<think></think>⟦2]⟧
          weight|{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': 'no', 'weight': 0}, {'role': 'user', 'content': 'r'}, {'role': 'assistant', 'content': 'yes'}]}|[user:q][assistant:no][user:r][assistant:<think></think>⟦yes]⟧
          train|{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': 'no', 'train': false}, {'role': 'user', 'content': 'r'}, {'role': 'assistant', 'content': 'yes', 'train': true}]}|[user:q][assistant:no][user:r][assistant:<think></think>⟦yes]⟧
          call|{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': null, 'tool_calls': [{'type': 'function', 'function': {'name': 'add', 'arguments': {'a': 1}}}]}], 'tools': [{'type': 'function', 'function': {'name': 'add'}}]}|[tools add][user:q][assistant:<think></think>⟦<call>{"name": "add", "arguments": {"a": 1}}</call>]⟧
          call as JSON text|{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': null, 'tool_calls': '[{\\"type\\": \\"function\\", \\"function\\": {\\"name\\": \\"add\\", \\"arguments\\": {\\"a\\": 1}}}]'}], 'tools': [{'type': 'function', 'function': {'name': 'add'}}]}|[tools add][user:q][assistant:<think></think>⟦<call>{"name": "add", "arguments": {"a": 1}}</call>]⟧
          messages as JSON text|{'messages': '[{\\"role\\": \\"user\\", \\"content\\": \\"q\\"}, {\\"role\\": \\"assistant\\", \\"content\\": \\"2\\"}]'}|[user:q][assistant:<think></think>⟦2]⟧
          field of the template's own|{'messages': [{'role': 'user', 'content': 'q', 'mood': '!', 'none': null}, {'role': 'assistant', 'content': '2', 'mood': '?'}]}|[user:q!][assistant:<think></think>⟦2?]⟧
          result|{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': '', 'weight': 0, 'tool_calls': [{'function': {'name': 'add', 'arguments': {}}}]}, {'role': 'tool', 'content': '3'}, {'role': 'assistant', 'content': '3'}]}|[user:q][assistant:<call>{"name": "add", "arguments": {}}</call>][tool:3][assistant:<think></think>⟦3]⟧
          """)
  void examples_rowOfEachForm_isTheTemplatesOwnRendering(String name, String row, String expected)
      throws IOException {
    assertThat(learnt(template(QWEN, Thinking.AUTO), row)).as(name).containsExactly(expected);
  }

  /** To a template an empty thought is not none: transformers gives it what the row has. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'content': 'a' | F",
        "'content': 'a', 'reasoning_content': null | F",
        "'content': 'a', 'reasoning_content': '' | T",
        "'content': 'a', 'reasoning_content': '', 'reasoning': 't' | Tt",
        "'content': 'a', 'reasoning': '' | F",
      })
  void examples_emptyThought_isGivenToTheTemplate(String message, String shown) throws IOException {
    ChatTemplate template =
        template(
            "{% for m in messages %}[{{ 'T' if m.reasoning_content is string else 'F' }}"
                + "{{ m.reasoning_content }} {{ m.content }}]{% endfor %}"
                + "{{ '[' if add_generation_prompt }}",
            Thinking.AUTO);
    String row =
        "{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', %s}]}"
            .formatted(message);
    assertThat(learnt(template, row)).containsExactly("[F q][⟦%s a]⟧".formatted(shown));
  }

  @Test
  void examples_severalThoughts_areSequencesWithTheHistoryAsTheTemplateHasIt() throws IOException {
    assertThat(
            learnt(
                template(QWEN, Thinking.TRUE),
                "{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content':"
                    + " '<think>t</think>a'}, {'role': 'user', 'content': 'r'}, {'role':"
                    + " 'assistant', 'content': '<think>u</think>b'}]}"))
        .containsExactly(
            "[user:q][assistant:⟦<think>t</think>a]⟧",
            "[user:q][assistant:a][user:r][assistant:⟦<think>u</think>b]⟧");
  }

  @Test
  void examples_templateThatAlwaysOpensAThoughtAndDropsIt_isFollowed() throws IOException {
    String distilled =
        "{% for m in messages %}[{{ m.role }}:{{ m.content.split('</think>')[-1] }}]{% endfor %}"
            + "{% if add_generation_prompt %}[assistant:<think>{% endif %}";
    String row =
        "{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', 'content': '%s'}]}";

    assertThat(learnt(template(distilled, Thinking.AUTO), row.formatted("<b>")))
        .containsExactly("[user:q][assistant:⟦<b>]⟧");
    assertThatThrownBy(
            () -> learnt(template(distilled, Thinking.AUTO), row.formatted("<think>t</think>a")))
        .hasMessageContaining("leaves out the thought of an answer, or changes it: \"t\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          'tool_calls': [{'function': {'name': 'add', 'arguments': {}}}]|leaves out a call of a tool, or changes it: "add"
          'thinking': 'why'|leaves out the thinking of an answer, or changes it: "why"
          'reasoning_content': 'why'|leaves out the reasoning of an answer, or changes it: "why"
          """)
  void examples_templateThatLeavesAPartOut_isRefusedByName(String part, String why) {
    String plain =
        "{% for m in messages %}[{{ m.role }}:{{ m.content }}]{% endfor %}"
            + "{% if add_generation_prompt %}[assistant:{% endif %}";

    assertThatThrownBy(
            () ->
                learnt(
                    template(plain, Thinking.AUTO),
                    "{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant',"
                        + " 'content': 'a', "
                        + part
                        + "}]}"))
        .hasMessageContaining(why);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          'content': 'a', 'weight': 0.5|must hold a weight of 0 or 1
          'content': 'a', 'weight': 0|must hold an answer of the assistant that is imitated
          'content': [{'type': 'image_url'}]|must hold texts only
          'content': null|must be a list of messages with role and content
          'content': '', 'tool_calls': 'none'|must hold a list as tool_calls
          'content': '', 'function_call': {'name': 'f'}|must hold no function_call
          'content': '', 'tool_calls': [{'function': {'name': 'f', 'arguments': 'x'}}]|must hold calls with a function's name and arguments
          """)
  void read_answerThatNoTemplateShows_isRefusedByFileFieldAndValue(String answer, String rule) {
    assertThatThrownBy(
            () ->
                learnt(
                    template(QWEN, Thinking.AUTO),
                    "{'messages': [{'role': 'user', 'content': 'q'}, {'role': 'assistant', "
                        + answer
                        + "}]}"))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("rows.jsonl")
        .hasMessageContaining("\"messages\" " + rule);
  }
}
