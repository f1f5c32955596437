package io.troupe.gateway.dialog;

import java.util.List;
import java.util.Optional;

/**
 * Refuses all conversations of a policy.
 *
 * @param why the sentence of the refusal
 */
public record UnreadableConversation(String why) implements Conversation {
  @Override
  public int[] whole(List<ChatMessage> messages, List<ToolDeclaration> tools) {
    throw new IllegalArgumentException(why);
  }

  @Override
  public Optional<int[]> following(SessionBook.SampledTurn turn, List<ChatMessage> added) {
    return Optional.empty();
  }

  @Override
  public List<String> stops() {
    return List.of();
  }

  @Override
  public TurnReply.ParsedAnswer parse(String answer, List<ToolDeclaration> tools) {
    return new TurnReply.ParsedAnswer("", answer, List.of());
  }

  @Override
  public TurnReply.ParsedAnswer soFar(String beginning, List<ToolDeclaration> tools) {
    return new TurnReply.ParsedAnswer("", "", List.of());
  }
}
