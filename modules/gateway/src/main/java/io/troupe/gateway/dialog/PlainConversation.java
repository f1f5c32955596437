package io.troupe.gateway.dialog;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.chat.TurnEnd;
import io.troupe.core.completion.FinishReason;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.format.InlineFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Conversations of a policy without a chat template: the texts of all messages, one behind the
 * other, with calls and results as {@link InlineFormat} writes them. Declarations of tools are not
 * shown; the policy learns from its warm-up which there are.
 */
public record PlainConversation(Tokenizer tokenizer) implements Conversation {
  private static final InlineFormat FORMAT = new InlineFormat();

  @Override
  public Optional<TurnRendering.Objection> objection(TurnRequest request) {
    return request.rendering().withoutTemplate();
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
    return tokenizer.encodeWithSpecial(tokenizer.withTextStart(text(messages)));
  }

  @Override
  public Optional<int[]> following(SessionBook.SampledTurn turn, List<ChatMessage> added) {
    if (added.stream().anyMatch(message -> message.role() == ChatMessage.Role.ASSISTANT)
        || turn.completion().finishReason() == FinishReason.LENGTH) {
      return Optional.empty();
    }
    return Optional.of(tokenizer.encode(text(added)));
  }

  @Override
  public List<String> stops() {
    return FORMAT.stops();
  }

  @Override
  public TurnReply.ParsedAnswer parse(String answer, List<ToolDeclaration> tools) {
    return ToolCallReader.read(FORMAT, answer, tools, false);
  }

  @Override
  public TurnReply.ParsedAnswer soFar(String beginning, List<ToolDeclaration> tools) {
    return ToolCallReader.soFar(FORMAT, beginning, tools, false);
  }

  private static String text(List<ChatMessage> messages) {
    StringBuilder text = new StringBuilder();
    for (ChatMessage message : messages) {
      boolean result = message.role() == ChatMessage.Role.TOOL;
      text.append(result ? InlineFormat.result(message.content()) : message.content());
      for (ChatCall call : message.calls()) {
        text.append(InlineFormat.call(call.name(), argument(call)));
      }
    }
    return text.toString();
  }

  /** The value of the first argument, as the policy samples it. */
  private static String argument(ChatCall call) {
    Iterator<JsonNode> values = ToolCallReader.tree(call.arguments()).elements();
    return values.hasNext() ? values.next().asText() : call.arguments();
  }
}
