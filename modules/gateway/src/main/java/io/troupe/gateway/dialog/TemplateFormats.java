package io.troupe.gateway.dialog;

import static io.troupe.core.Require.require;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.Thinking;
import io.troupe.chat.WrappingTemplate;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.ToolSchema;
import io.troupe.environments.format.BridgedFormat;
import io.troupe.environments.format.HermesFormat;
import io.troupe.environments.format.LlamaFormat;
import io.troupe.environments.format.ToolFormat;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Holds formats of tool calls against chat templates. */
public final class TemplateFormats {
  private static final String QUESTION = "q";
  private static final String RESULT = "r";

  /** A tool by which a template is examined that will show tools of an agent. */
  public static final ToolSchema PROBE =
      new ToolSchema("probe_tool", "Looks.", "{\"type\":\"object\",\"properties\":{}}");

  private TemplateFormats() {}

  /** Returns a template that shows tools in every rendering. */
  public static ChatTemplate showing(ChatTemplate plain, List<ToolSchema> tools) {
    List<Map<String, Object>> declared = tools.stream().map(TemplateFormats::declared).toList();
    return new Showing(decided(plain), declared);
  }

  /** A template that is given tools in every rendering. */
  private record Showing(ChatTemplate template, List<Map<String, Object>> tools)
      implements WrappingTemplate {
    @Override
    public String render(
        List<Message> messages, boolean addGenerationPrompt, Map<String, Object> arguments) {
      Map<String, Object> more = new HashMap<>(arguments);
      more.put("tools", tools);
      return template.render(messages, addGenerationPrompt, more);
    }
  }

  /** A policy's template, without thinking where nobody has decided. */
  static ChatTemplate decided(ChatTemplate template) {
    return Thinking.AUTO.in(Optional.of(template)).orElse(template);
  }

  private static Map<String, Object> declared(ToolSchema tool) {
    require(
        ToolCallReader.tree(tool.parameters()).isObject(),
        "tool %s: its parameters are no JSON schema: %s",
        tool.name(),
        tool.parameters());
    return TemplateConversation.declared(
        new ToolDeclaration(tool.name(), tool.description(), tool.parameters()));
  }

  /**
   * Returns a format together with what a template adds behind its results.
   *
   * @param chat that shows the tool in every rendering
   * @return empty if the template shows results by another text than the format
   * @throws IllegalArgumentException if the template shows no tools
   */
  public static Optional<ToolFormat> bridged(
      ToolFormat format, ChatTemplate chat, ToolSchema tool) {
    String name = tool.name();
    String declared = chat.render(List.of(ChatTemplate.Message.user(QUESTION)), true, Map.of());
    require(declared.contains(name), "the policy's chat template shows no tools");
    Map<String, Object> call =
        Map.of("type", "function", "function", Map.of("name", name, "arguments", Map.of("x", "1")));
    Map<String, Object> arguments =
        Map.of(
            "messages",
            List.of(
                Map.of("role", "user", "content", QUESTION),
                Map.of("role", "assistant", "content", "", "tool_calls", List.of(call)),
                Map.of("role", "tool", "name", name, "content", RESULT)));
    String rendered = chat.render(List.of(), true, arguments);
    StringBuilder shown = new StringBuilder();
    format.observation(List.of(RESULT), true).forEach(piece -> shown.append(piece.text()));
    int at = rendered.lastIndexOf(shown.toString());
    return at < 0
        ? Optional.empty()
        : Optional.of(new BridgedFormat(format, rendered.substring(at + shown.length())));
  }

  /**
   * Returns conversations of a policy by its chat template alone. Tools are refused where the
   * template shows none, or shows their results in no known format.
   */
  public static Conversation conversation(Tokenizer tokenizer, ChatTemplate template) {
    String why = "the policy's chat template shows results of tools in no known format";
    try {
      ChatTemplate probing = showing(template, List.of(PROBE));
      for (ToolFormat format : List.of(new HermesFormat(), new LlamaFormat())) {
        Optional<ToolFormat> fitting = bridged(format, probing, PROBE);
        if (fitting.isPresent()) {
          return new TemplateConversation(tokenizer, template, fitting.get());
        }
      }
    } catch (IllegalArgumentException unshown) {
      why = String.valueOf(unshown.getMessage());
    }
    return new ToollessConversation(
        new TemplateConversation(tokenizer, template, new HermesFormat()),
        why + "; ask without tools");
  }
}
