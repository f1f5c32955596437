package io.troupe.gateway.wire;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.chat.Thinking;
import io.troupe.gateway.dialog.ChatMessage;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.dialog.TurnRendering;
import io.troupe.gateway.dialog.TurnRendering.EffortWish;
import io.troupe.gateway.dialog.TurnRendering.Ending;
import io.troupe.gateway.dialog.TurnRendering.ThinkingWish;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads how a request wants its conversation shown to the policy. */
final class RenderingFields {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String ARGUMENTS = "chat_template_kwargs";
  private static final int MOST_ARGUMENTS = 64;
  private static final int MOST_TEXT = 4096;

  private RenderingFields() {}

  /** The fields of chat completions. */
  static TurnRendering ofChat(JsonNode body) throws MalformedTurnException {
    boolean continued = body.path("continue_final_message").asBoolean(false);
    boolean asked = body.path("add_generation_prompt").asBoolean(false);
    if (continued && asked) {
      throw new MalformedTurnException(
          "continue_final_message",
          "continue_final_message and add_generation_prompt do not go together; send one");
    }
    Ending other =
        body.path("add_generation_prompt").asBoolean(true)
            ? Ending.NEXT_MESSAGE
            : Ending.BEHIND_LAST;
    return new TurnRendering(
        thinking(body.path(ARGUMENTS)),
        effort(body.path("reasoning_effort"), "reasoning_effort", true),
        arguments(body.path(ARGUMENTS)),
        continued ? Ending.WITHIN_LAST : other,
        body.path("add_special_tokens").asBoolean(false));
  }

  /** Templates have two names for the choice. */
  private static Optional<ThinkingWish> thinking(JsonNode arguments) {
    for (String name : Thinking.AUTO.arguments().keySet()) {
      if (arguments.path(name).isBoolean()) {
        return Optional.of(
            new ThinkingWish(
                ARGUMENTS + "." + name, Thinking.of(arguments.path(name).booleanValue())));
      }
    }
    return Optional.empty();
  }

  private static Map<String, Object> arguments(JsonNode arguments) throws MalformedTurnException {
    if (arguments.size() > MOST_ARGUMENTS || arguments.toString().length() > MOST_TEXT) {
      throw new MalformedTurnException(
          ARGUMENTS,
          "chat_template_kwargs has at most %d entries, and %d characters"
              .formatted(MOST_ARGUMENTS, MOST_TEXT));
    }
    Map<String, Object> values = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> argument : arguments.properties()) {
      if (!argument.getValue().isNull()) {
        values.put(
            argument.getKey(),
            JSON.convertValue(argument.getValue(), new TypeReference<Object>() {}));
      }
    }
    return values;
  }

  private static Optional<EffortWish> effort(JsonNode effort, String field, boolean thinks) {
    return effort.isTextual()
        ? Optional.of(new EffortWish(field, effort.textValue(), thinks))
        : Optional.empty();
  }

  /** The fields of responses. */
  static TurnRendering ofResponses(JsonNode body) {
    return new TurnRendering(
        Optional.empty(),
        effort(body.path("reasoning").path("effort"), "reasoning.effort", true),
        Map.of(),
        Ending.NEXT_MESSAGE,
        false);
  }

  /**
   * The fields of Anthropic's messages, where a last message of the assistant is continued. An
   * effort of {@code high} is what a request without one asks for.
   */
  static TurnRendering ofMessages(JsonNode body, List<ChatMessage> messages)
      throws MalformedTurnException {
    JsonNode thinking = body.path("thinking");
    String type = thinking.path("type").asText("adaptive");
    boolean prefilled =
        !messages.isEmpty() && messages.getLast().role() == ChatMessage.Role.ASSISTANT;
    checkBudget(thinking, type, body.path("max_tokens"));
    if (prefilled && type.equals("enabled")) {
      throw new MalformedTurnException(
          "thinking",
          "thinking cannot be enabled for a last message of the assistant, which is continued;"
              + " disable it, or end with a message of the user");
    }
    Optional<ThinkingWish> wish =
        type.equals("adaptive")
            ? Optional.empty()
            : Optional.of(new ThinkingWish("thinking", Thinking.of(type.equals("enabled"))));
    return new TurnRendering(
        wish,
        effort(body.path("output_config").path("effort"), "output_config.effort", false)
            .filter(effort -> !effort.effort().equals("high")),
        Map.of(),
        prefilled ? Ending.WITHIN_LAST : Ending.NEXT_MESSAGE,
        false);
  }

  /** A budget is a target that policies do not know of; only its form is checked. */
  private static void checkBudget(JsonNode thinking, String type, JsonNode limit)
      throws MalformedTurnException {
    boolean given = thinking.hasNonNull("budget_tokens");
    if (given && !type.equals("enabled")) {
      throw new MalformedTurnException(
          "thinking.budget_tokens", "a budget of thinking goes with the type enabled");
    }
    if (given
        && limit.canConvertToLong()
        && thinking.path("budget_tokens").longValue() >= limit.longValue()) {
      throw new MalformedTurnException(
          "thinking.budget_tokens", "a budget of thinking is less than max_tokens");
    }
  }
}
