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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The chat template of a Hugging Face checkpoint: chat_template.jinja and the files of
 * additional_chat_templates, or {@code chat_template} of tokenizer_config.json. Of several, the one
 * named {@code tool_use} renders conversations with tools. The template sees the variables that
 * {@code transformers} gives it: {@code messages}, {@code add_generation_prompt}, {@code tools} and
 * {@code documents} (none), and the special tokens that the tokenizer's configuration names.
 */
public final class JinjaChatTemplate implements ChatTemplate {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String DEFAULT = "default";
  private static final String TOOL_USE = "tool_use";
  private static final String SUFFIX = ".jinja";
  private static final List<String> SPECIAL =
      List.of("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token");

  private final Map<String, Template> named;
  private final Map<String, String> special;

  private JinjaChatTemplate(Map<String, Template> named, Map<String, String> special) {
    this.named = Map.copyOf(named);
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
    return new JinjaChatTemplate(Map.of(DEFAULT, Template.parse(source, clock)), special);
  }

  /**
   * Returns the template of a checkpoint's directory; empty for a base model without a template.
   *
   * @throws IOException if a file cannot be read, or is no template; the message names the file
   */
  public static Optional<ChatTemplate> read(Path directory, Clock clock) throws IOException {
    Path config = directory.resolve("tokenizer_config.json");
    JsonNode json = JsonNodeFactory.instance.objectNode();
    if (Files.exists(config)) {
      try {
        json = JSON.readTree(Files.readAllBytes(config));
      } catch (JsonProcessingException failure) {
        throw new IOException("%s is not JSON".formatted(config), failure);
      }
    }
    Map<String, Source> sources = files(directory);
    if (sources.isEmpty()) {
      sources.putAll(configured(json.path("chat_template"), config));
    }
    if (sources.isEmpty()) {
      return Optional.empty();
    }
    Map<String, Template> named = new HashMap<>();
    for (Map.Entry<String, Source> each : sources.entrySet()) {
      try {
        named.put(each.getKey(), Template.parse(each.getValue().text(), clock));
      } catch (TemplateException failure) {
        throw new IOException(
            "%s: %s".formatted(each.getValue().file(), failure.getMessage()), failure);
      }
    }
    return Optional.of(new JinjaChatTemplate(named, special(json)));
  }

  /** A template's text and the file that has it. */
  private record Source(Path file, String text) {}

  /** Files of their own have precedence over the configuration, all of them together. */
  private static Map<String, Source> files(Path directory) throws IOException {
    Map<String, Source> sources = new HashMap<>();
    Path own = directory.resolve("chat_template.jinja");
    if (Files.exists(own)) {
      sources.put(DEFAULT, new Source(own, Files.readString(own)));
    }
    Path more = directory.resolve("additional_chat_templates");
    if (Files.isDirectory(more)) {
      try (Stream<Path> files = Files.list(more)) {
        for (Path file : files.sorted().toList()) {
          String name = file.getFileName().toString();
          if (name.endsWith(SUFFIX)) {
            sources.put(
                name.substring(0, name.length() - SUFFIX.length()),
                new Source(file, Files.readString(file)));
          }
        }
      }
    }
    return sources;
  }

  /** The templates in a node that holds one, or several by their names. */
  private static Map<String, Source> configured(JsonNode node, Path config) {
    Map<String, Source> sources = new HashMap<>();
    if (node.isTextual()) {
      sources.put(DEFAULT, new Source(config, node.textValue()));
    } else if (node.isObject()) {
      node.properties()
          .forEach(
              each -> sources.put(each.getKey(), new Source(config, each.getValue().asText())));
    } else {
      node.forEach(
          each ->
              sources.put(
                  each.path("name").asText(), new Source(config, each.path("template").asText())));
    }
    return sources;
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
  public boolean mentions(String variable) {
    return named.values().stream().anyMatch(template -> template.mentions(variable));
  }

  @Override
  public String render(
      List<Message> messages, boolean addGenerationPrompt, Map<String, Object> arguments) {
    Map<String, @Nullable Object> variables = new HashMap<>(special);
    variables.put("tools", null);
    variables.put("documents", null);
    variables.put("messages", messages.stream().map(JinjaChatTemplate::entry).toList());
    variables.put("add_generation_prompt", addGenerationPrompt);
    variables.putAll(arguments);
    Template withTools = variables.get("tools") == null ? null : named.get(TOOL_USE);
    Template template = withTools == null ? named.get(DEFAULT) : withTools;
    if (template == null) {
      throw new IllegalArgumentException(
          "the checkpoint has the chat templates %s and none for conversations without tools"
              .formatted(new TreeSet<>(named.keySet())));
    }
    return template.render(variables);
  }

  private static Map<String, Object> entry(Message message) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("role", message.role());
    entry.put("content", message.content());
    return entry;
  }
}
