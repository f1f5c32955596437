package io.troupe.gateway.dialog;

import static io.troupe.core.Require.require;

import io.troupe.chat.TurnEnd;
import java.util.List;
import java.util.Optional;

/**
 * Conversations of a policy that cannot be offered tools.
 *
 * @param plain the same without tools
 * @param why tools are refused
 */
record ToollessConversation(Conversation plain, String why) implements Conversation {
  @Override
  public Optional<TurnRendering.Objection> objection(TurnRequest request) {
    return plain.objection(request);
  }

  @Override
  public Conversation answering(TurnRequest request) {
    return new ToollessConversation(plain.answering(request), why);
  }

  @Override
  public TurnEnd turnEnd() {
    return plain.turnEnd();
  }

  @Override
  public int[] whole(List<ChatMessage> messages, List<ToolDeclaration> tools) {
    boolean called = messages.stream().anyMatch(message -> !message.calls().isEmpty());
    require(tools.isEmpty() && !called, "%s", why);
    return plain.whole(messages, tools);
  }

  @Override
  public Optional<int[]> following(SessionBook.SampledTurn turn, List<ChatMessage> added) {
    return plain.following(turn, added);
  }

  @Override
  public List<String> stops() {
    return List.of();
  }

  @Override
  public TurnReply.ParsedAnswer parse(String answer, List<ToolDeclaration> tools) {
    return plain.parse(answer, tools);
  }

  @Override
  public TurnReply.ParsedAnswer soFar(String beginning, List<ToolDeclaration> tools) {
    return plain.soFar(beginning, tools);
  }
}
