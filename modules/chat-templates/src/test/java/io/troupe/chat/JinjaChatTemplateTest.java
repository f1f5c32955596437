package io.troupe.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.chat.jinja.GenerationMarks;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Templates in the families' form against Python's jinja2: {@code chat_templates.py}. */
final class JinjaChatTemplateTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final JsonNode GOLDEN = golden();
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse(GOLDEN.path("now").asText()), ZoneOffset.UTC);
  private static final List<Message> QUESTION = List.of(Message.user("2+2?"));

  @TempDir private Path directory;

  private static byte[] resource(String name) {
    try (InputStream in = JinjaChatTemplateTest.class.getResourceAsStream("chat/" + name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static JsonNode golden() {
    try {
      return JSON.readTree(resource("cases.json"));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static String text(String template) {
    return new String(resource(template), StandardCharsets.UTF_8);
  }

  static Stream<String> templates() {
    return Stream.of("qwen2.jinja", "qwen3.jinja", "llama3.jinja", "language.jinja");
  }

  @ParameterizedTest
  @MethodSource("templates")
  void render_everyTalk_isWhatJinja2Makes(String name) {
    Map<String, String> special =
        JSON.convertValue(GOLDEN.path("special"), new TypeReference<Map<String, String>>() {});
    ChatTemplate template = JinjaChatTemplate.of(text(name), special, CLOCK);
    int seen = 0;
    for (JsonNode one : GOLDEN.path("cases")) {
      if (one.path("template").asText().equals(name)) {
        seen++;
        List<Message> messages = new ArrayList<>();
        one.path("messages")
            .forEach(
                m ->
                    messages.add(new Message(m.path("role").asText(), m.path("content").asText())));
        Map<String, Object> arguments =
            JSON.convertValue(one.path("arguments"), new TypeReference<Map<String, Object>>() {});
        boolean generate = one.path("generate").asBoolean();
        String what = one.path("talk") + " " + generate + " " + arguments;
        if (one.has("error")) {
          assertThatThrownBy(() -> template.render(messages, generate, arguments))
              .as(what)
              .hasMessageContaining(one.path("error").asText());
        } else {
          assertThat(template.render(messages, generate, arguments))
              .as(what)
              .isEqualTo(one.path("expected").asText());
        }
      }
    }
    assertThat(seen).isEqualTo(40);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      quoteCharacter = '`',
      value = {
        "{% if x %}a! line 1 of the template: the template ends without",
        "{{ 'a' ! line 1 of the template: a tag has no end '}}'",
        "`a\n"
            + "{{ 1 + }}`! line 2 of the template: there is the end of the tag where a value should"
            + " be",
        "{% include 'x' %}! line 1 of the template: the tag 'include' is none of",
        "{{ 'a' | nofilter }}! line 1 of the template: there is no filter 'nofilter'",
        "{{ 1 is notest }}! line 1 of the template: there is no test 'notest'",
        "{{ missing.x }}! line 1 of the template: 'missing' is undefined and has no 'x'",
        "{{ 'a' + 1 }}! line 1 of the template: '+' does not go between 'a' and 1",
        "{{ 1 // 0 }}! line 1 of the template: a division by 0",
        "{{ none() }}! line 1 of the template: None is no function",
        "{{ raise_exception('no') }}! line 1 of the template: no",
        "{% endif %}! line 1 of the template: the tag 'endif'",
        "{# a! line 1 of the template: a comment has no end",
        "{{ strftime_now('%Q') }}! line 1 of the template: strftime_now knows no '%Q'"
      })
  void render_badTemplate_namesLineAndRule(String source, String message) {
    assertThatThrownBy(
            () -> JinjaChatTemplate.of(source, Map.of(), CLOCK).render(QUESTION, true, Map.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void render_generationBlock_hasAScopeOfItsOwnAndMarksIfAsked() {
    ChatTemplate template =
        JinjaChatTemplate.of(
            "{% set x = 1 %}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}"
                + "{% generation %}b{% endgeneration %}{{ x }}{% generation %}{% endgeneration %}"
                + "{% generation %}c{% endgeneration %}",
            Map.of(), CLOCK);

    assertThat(template.render(QUESTION, true, Map.of())).isEqualTo("2b1c");
    assertThat(
            GenerationMarks.split(
                template.render(QUESTION, true, Map.of(GenerationMarks.ARGUMENT, true))))
        .containsExactly("", "2b", "1", "c", "");
  }

  @Test
  void read_namedTemplates_toolUseRendersConversationsWithTools() throws IOException {
    Map<String, Object> tools = Map.of("tools", List.of(Map.of("type", "function")));
    Path config = directory.resolve("tokenizer_config.json");
    Files.writeString(
        config,
        """
        {"chat_template": [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}]}
        """);
    ChatTemplate listed = JinjaChatTemplate.read(directory, CLOCK).orElseThrow();
    assertThat(listed.render(QUESTION, true, Map.of())).isEqualTo("d");
    assertThat(listed.render(QUESTION, true, tools)).isEqualTo("t");

    Path more = Files.createDirectory(directory.resolve("additional_chat_templates"));
    Files.writeString(more.resolve("tool_use.jinja"), "T {{ tools | length }}");
    ChatTemplate alone = JinjaChatTemplate.read(directory, CLOCK).orElseThrow();
    assertThat(alone.render(QUESTION, true, tools)).isEqualTo("T 1");
    assertThatThrownBy(() -> alone.render(QUESTION, true, Map.of()))
        .hasMessageContaining("[tool_use] and none for conversations without tools");

    Files.writeString(directory.resolve("chat_template.jinja"), "D");
    ChatTemplate both = JinjaChatTemplate.read(directory, CLOCK).orElseThrow();
    assertThat(both.render(QUESTION, true, Map.of())).isEqualTo("D");
    assertThat(both.render(QUESTION, true, tools)).isEqualTo("T 1");
  }

  @Test
  void read_fileAndConfiguration_prefersTheFileAndTakesSpecialTokens() throws IOException {
    assertThat(JinjaChatTemplate.read(directory, CLOCK)).isEmpty();
    Files.writeString(
        directory.resolve("tokenizer_config.json"),
        """
        {"bos_token": {"content": "<s>"}, "eos_token": null,
         "chat_template": [{"name": "tool_use", "template": "t"},
                           {"name": "default", "template": "{{ bos_token }}{{ eos_token }}d"}]}
        """);
    assertThat(
            JinjaChatTemplate.read(directory, CLOCK).orElseThrow().render(QUESTION, true, Map.of()))
        .isEqualTo("<s>d");
    Path own = directory.resolve("chat_template.jinja");
    Files.writeString(own, "{{ messages[0].content }}{{ bos_token }}\n");
    assertThat(
            JinjaChatTemplate.read(directory, CLOCK).orElseThrow().render(QUESTION, true, Map.of()))
        .isEqualTo("2+2?<s>");
    Files.writeString(own, "{% for %}");
    assertThatThrownBy(() -> JinjaChatTemplate.read(directory, CLOCK))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(own + ": line 1 of the template: ");
  }
}
