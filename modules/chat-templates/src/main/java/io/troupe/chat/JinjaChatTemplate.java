package io.troupe.chat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.troupe.chat.jinja.Template;
import io.troupe.chat.python.TemplateException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The chat template of a Hugging Face checkpoint: chat_template.jinja, or {@code chat_template} of
 * tokenizer_config.json. The template sees the variables that {@code transformers} gives it: {@code
 * messages}, {@code add_generation_prompt}, {@code tools} and {@code documents} (none), and the
 * special tokens that the tokenizer's configuration names.
 */
public final class JinjaChatTemplate implements ChatTemplate {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String DEFAULT = "default";
  private static final List<String> SPECIAL =
      List.of("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token");

  private final Template template;
  private final Map<String, String> special;

  private JinjaChatTemplate(Template template, Map<String, String> special) {
    this.template = template;
    this.special = Map.copyOf(special);
  }

  /**
   * Parses a template.
   *
   * @param special tokens by their variable name in the template, such as {@code bos_token}
   * @param clock of {@code strftime_now}
   * @throws IllegalArgumentException if the text is no template; the message names the line
   */
  public static JinjaChatTemplate of(String source, Map<String, String> special, Clock clock) {
    return new JinjaChatTemplate(Template.parse(source, clock), special);
  }

  /**
   * Returns the template of a checkpoint's directory; empty for a base model without a template.
   *
   * @throws IOException if a file cannot be read, or is no template; the message names the file
   */
  public static Optional<ChatTemplate> read(Path directory, Clock clock) throws IOException {
    Path config = directory.resolve("tokenizer_config.json");
    Path separate = directory.resolve("chat_template.jinja");
    JsonNode json = JsonNodeFactory.instance.objectNode();
    if (Files.exists(config)) {
      try {
        json = JSON.readTree(Files.readAllBytes(config));
      } catch (JsonProcessingException failure) {
        throw new IOException("%s is not JSON".formatted(config), failure);
      }
    }
    boolean own = Files.exists(separate);
    Optional<String> source =
        own ? Optional.of(Files.readString(separate)) : source(json.path("chat_template"));
    if (source.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(of(source.get(), special(json), clock));
    } catch (TemplateException failure) {
      throw new IOException(
          "%s: %s".formatted(own ? separate : config, failure.getMessage()), failure);
    }
  }

  /** Returns the source in a node that holds one template or a list of named templates. */
  private static Optional<String> source(JsonNode node) {
    if (node.isTextual()) {
      return Optional.of(node.textValue());
    }
    for (JsonNode named : node) {
      if (named.path("name").asText().equals(DEFAULT)) {
        return Optional.of(named.path("template").asText());
      }
    }
    return Optional.empty();
  }

  private static Map<String, String> special(JsonNode json) {
    Map<String, String> tokens = new HashMap<>();
    for (String name : SPECIAL) {
      JsonNode token = json.path(name);
      JsonNode text = token.isObject() ? token.path("content") : token;
      if (text.isTextual()) {
        tokens.put(name, text.textValue());
      }
    }
    return tokens;
  }

  @Override
  public String render(
      List<Message> messages, boolean addGenerationPrompt, Map<String, Object> arguments) {
    Map<String, @Nullable Object> variables = new HashMap<>(special);
    variables.put("tools", null);
    variables.put("documents", null);
    variables.put(
        "messages",
        messages.stream()
            .map(message -> Map.of("role", message.role(), "content", message.content()))
            .toList());
    variables.put("add_generation_prompt", addGenerationPrompt);
    variables.putAll(arguments);
    return template.render(variables);
  }
}
