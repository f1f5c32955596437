package io.troupe.serve.completion;

import io.troupe.gateway.dialog.Conversation;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.gateway.wire.SentText;
import java.util.List;

/** One answer to a conversation while it is sampled, as reasoning and content. */
final class GrowingAnswer {
  private final Conversation conversation;
  private final StringBuilder text = new StringBuilder();
  private final SentText reasoning = new SentText();
  private final SentText content = new SentText();

  GrowingAnswer(Conversation conversation) {
    this.conversation = conversation;
  }

  /** Adds a text, and returns what it adds to reasoning and content. */
  ParsedAnswer news(String more, boolean last) {
    text.append(more);
    ParsedAnswer read =
        last
            ? conversation.parse(text.toString(), List.of())
            : conversation.soFar(text.toString(), List.of());
    return new ParsedAnswer(
        reasoning.next(read.reasoning()), content.next(read.content()), List.of());
  }
}
