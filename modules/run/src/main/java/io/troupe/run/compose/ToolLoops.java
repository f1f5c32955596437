package io.troupe.run.compose;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.chat.ChatTemplate;
import io.troupe.config.rollout.AgentProgramSection;
import io.troupe.config.rollout.EpisodeSection;
import io.troupe.config.rollout.EpisodeSection.Format;
import io.troupe.config.rollout.EpisodeSection.ParseErrors;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.ToolSchema;
import io.troupe.environments.format.BridgedFormat;
import io.troupe.environments.format.HermesFormat;
import io.troupe.environments.format.InlineFormat;
import io.troupe.environments.format.LlamaFormat;
import io.troupe.environments.format.ToolFormat;
import io.troupe.environments.registry.Environments;
import io.troupe.gateway.agent.AgentSettings;
import io.troupe.gateway.dialog.PlainConversation;
import io.troupe.gateway.dialog.TemplateConversation;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.tasks.PromptTemplate;
import io.troupe.tasks.Task;
import io.troupe.tasks.TaskSource;
import io.troupe.tasks.rows.TaskDataException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What an episode of a run is: its tools or its agent, and what the chat template makes of them.
 */
final class ToolLoops {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String QUESTION = "q";
  private static final String RESULT = "r";

  /** By which a template is examined that will show an agent's tools. */
  private static final ToolSchema PROBE =
      new ToolSchema("probe_tool", "Looks.", "{\"type\":\"object\",\"properties\":{}}");

  /** As tasks render their prompts: {@link io.troupe.tasks.PromptTemplate}. */
  private static final Map<String, Object> WITHOUT_THINKING = Map.of("enable_thinking", false);

  private ToolLoops() {}

  /**
   * What an episode is.
   *
   * @param chat of the policy, as {@link #showingTools} returns it
   * @throws TaskDataException if the template does not show results as the format does, or an agent
   *     would be given prompts that are conversations already
   */
  static EpisodeSettings of(
      EpisodeSection section, ChatTemplate chat, Tokenizer tokenizer, Task task) {
    if (section.hasAgent()) {
      return new EpisodeSettings.Agents(agents(section, chat, tokenizer, task));
    }
    if (!section.hasTools()) {
      return new EpisodeSettings.SingleTurn();
    }
    return new EpisodeSettings.ToolLoop(
        Environments.named(section.environment()),
        bridged(section, chat, Environments.named(section.environment()).tools().getFirst()),
        section.maxTurns(),
        section.maxToolCalls(),
        section.toolTimeout(),
        section.parseErrors() == ParseErrors.END);
  }

  private static AgentSettings agents(
      EpisodeSection section, ChatTemplate chat, Tokenizer tokenizer, Task task) {
    for (TaskSource source : task.sources()) {
      if (source.promptForm() == PromptTemplate.PromptForm.CHAT) {
        throw new TaskDataException(
            "task.template: %s has chat, and an agent makes a conversation of a prompt itself; set it to raw"
                .formatted(source.name()));
      }
    }
    AgentProgramSection agent = section.agent();
    return new AgentSettings(
        agent.command(),
        agent.variables(),
        agent.count(),
        agent.tasksPerProcess(),
        agent.timeout(),
        section.format() == Format.INLINE
            ? new PlainConversation(tokenizer)
            : new TemplateConversation(
                tokenizer, chat, bridged(section, showing(chat, List.of(tool(PROBE))), PROBE)),
        section.maxTurns(),
        section.maxToolCalls());
  }

  /** The same template with the environment's tools in every rendering. */
  static ChatTemplate showingTools(EpisodeSection section, ChatTemplate plain) {
    if (!section.hasTools() || section.format() == Format.INLINE) {
      return plain;
    }
    List<Map<String, Object>> tools =
        Environments.named(section.environment()).tools().stream().map(ToolLoops::tool).toList();
    return showing(plain, tools);
  }

  private static ChatTemplate showing(ChatTemplate plain, List<Map<String, Object>> tools) {
    return (messages, addGenerationPrompt, arguments) -> {
      Map<String, Object> more = new HashMap<>(arguments);
      more.put("tools", tools);
      return plain.render(messages, addGenerationPrompt, more);
    };
  }

  private static Map<String, Object> tool(ToolSchema schema) {
    try {
      Map<String, Object> parameters =
          JSON.readValue(schema.parameters(), new TypeReference<Map<String, Object>>() {});
      return Map.of(
          "type",
          "function",
          "function",
          Map.of(
              "name",
              schema.name(),
              "description",
              schema.description(),
              "parameters",
              parameters));
    } catch (JsonProcessingException malformed) {
      throw new IllegalArgumentException(
          "tool %s: its parameters are no JSON schema: %s"
              .formatted(schema.name(), malformed.getOriginalMessage()),
          malformed);
    }
  }

  /** Holds the format against the template: both must show a result by the same text. */
  private static ToolFormat bridged(EpisodeSection section, ChatTemplate chat, ToolSchema tool) {
    ToolFormat format =
        switch (section.format()) {
          case INLINE -> new InlineFormat();
          case HERMES -> new HermesFormat();
          case LLAMA -> new LlamaFormat();
        };
    if (section.format() == Format.INLINE) {
      return format;
    }
    String name = tool.name();
    String declared = chat.render(List.of(ChatTemplate.Message.user(QUESTION)), true, Map.of());
    if (!declared.contains(name)) {
      throw new TaskDataException(
          "the policy's chat template shows no tools; take a policy whose template does, or"
              + " episode.format: inline");
    }
    Map<String, Object> call =
        Map.of("type", "function", "function", Map.of("name", name, "arguments", Map.of("x", "1")));
    Map<String, Object> arguments = new HashMap<>(WITHOUT_THINKING);
    arguments.put(
        "messages",
        List.of(
            Map.of("role", "user", "content", QUESTION),
            Map.of("role", "assistant", "content", "", "tool_calls", List.of(call)),
            Map.of("role", "tool", "name", name, "content", RESULT)));
    String rendered = chat.render(List.of(), true, arguments);
    StringBuilder shown = new StringBuilder();
    format.observation(List.of(RESULT), true).forEach(piece -> shown.append(piece.text()));
    int at = rendered.lastIndexOf(shown.toString());
    if (at < 0) {
      throw new TaskDataException(
          "the policy's chat template does not show a tool's result as episode.format: %s does;"
                  .formatted(section.format().name().toLowerCase(Locale.ROOT))
              + " take the format of its family");
    }
    return new BridgedFormat(format, rendered.substring(at + shown.length()));
  }
}
