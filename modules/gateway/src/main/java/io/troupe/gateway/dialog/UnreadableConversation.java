package io.troupe.gateway.dialog;

import io.troupe.chat.TurnEnd;
import java.util.List;
import java.util.Optional;

/**
 * Refuses all conversations of a policy.
 *
 * @param why the sentence of the refusal
 */
public record UnreadableConversation(String why) implements Conversation {
  @Override
  public Optional<TurnRendering.Objection> objection(TurnRequest request) {
    return Optional.empty(); // every conversation is refused
  }

  @Override
  public Conversation answering(TurnRequest request) {
    return this;
  }

  @Override
  public TurnEnd turnEnd() {
    return new TurnEnd.Unmarked();
  }

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
