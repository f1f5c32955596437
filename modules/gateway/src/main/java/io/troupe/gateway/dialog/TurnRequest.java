package io.troupe.gateway.dialog;

import java.util.ArrayList;
import java.util.List;

/**
 * An agent's request for one answer to a conversation.
 *
 * @param model the name that the agent calls the policy by; every name is answered
 * @param tools offered to the policy; none where the agent forbids calls
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
    boolean usage) {
  public TurnRequest {
    messages = List.copyOf(messages);
    tools = List.copyOf(tools);
    stops = List.copyOf(stops);
  }

  /**
   * Checks that every tool's message answers a call of the assistant's message before it: a result
   * without a call would be shown to the policy as if the policy had called.
   *
   * @throws MalformedTurnException if one does not, or there is no message
   */
  public void check() throws MalformedTurnException {
    if (messages.isEmpty()) {
      throw new MalformedTurnException("messages", "a conversation has at least one message");
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
