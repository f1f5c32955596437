package io.troupe.gateway.dialog;

import io.troupe.gateway.dialog.TurnRendering.Ending;
import java.util.ArrayList;
import java.util.List;

/**
 * An agent's request for one answer to a conversation.
 *
 * @param model the name that the agent calls the policy by; every name is answered
 * @param tools offered to the policy; none where the agent forbids calls
 * @param rendering how the conversation is shown to the policy
 * @param parallelCalls whether the agent carries out more than one call of an answer
 * @param maxTokens of the answer; 0 means the run's limit
 * @param stops texts that end the answer
 * @param stream whether the answer is sent as events
 * @param usage whether a stream of chat completions ends with the counts
 */
public record TurnRequest(
    String model,
    List<ChatMessage> messages,
    List<ToolDeclaration> tools,
    boolean parallelCalls,
    int maxTokens,
    List<String> stops,
    boolean stream,
    boolean usage,
    TurnRendering rendering) {
  public TurnRequest {
    messages = List.copyOf(messages);
    tools = List.copyOf(tools);
    stops = List.copyOf(stops);
  }

  /** A request whose conversation is shown as the server shows all. */
  public TurnRequest(
      String model,
      List<ChatMessage> messages,
      List<ToolDeclaration> tools,
      boolean parallelCalls,
      int maxTokens,
      List<String> stops,
      boolean stream,
      boolean usage) {
    this(
        model,
        messages,
        tools,
        parallelCalls,
        maxTokens,
        stops,
        stream,
        usage,
        TurnRendering.PLAIN);
  }

  /**
   * Checks that every tool's message answers a call of the assistant's message before it: a result
   * without a call would be shown to the policy as if the policy had called.
   *
   * @throws MalformedTurnException if one does not, or there is no message, or none to continue
   */
  public void check() throws MalformedTurnException {
    if (messages.isEmpty()) {
      throw new MalformedTurnException("messages", "a conversation has at least one message");
    }
    ChatMessage last = messages.getLast();
    if (rendering.ending() == Ending.WITHIN_LAST
        && (last.role() != ChatMessage.Role.ASSISTANT || !last.calls().isEmpty())) {
      throw new MalformedTurnException(
          "messages[%d]".formatted(messages.size() - 1),
          "a message that is continued is the assistant's and calls no tool");
    }
    List<String> open = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      ChatMessage message = messages.get(i);
      switch (message.role()) {
        case ASSISTANT -> {
          open.clear();
          message.calls().forEach(call -> open.add(call.id()));
        }
        case TOOL -> {
          if (!open.remove(message.callId())) {
            throw new MalformedTurnException(
                "messages[%d]".formatted(i),
                "'%s' is no open call of the assistant's message before it"
                    .formatted(message.callId()));
          }
        }
        case USER, SYSTEM -> {}
      }
    }
  }
}
