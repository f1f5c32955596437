package io.troupe.tasks.sets;

import io.troupe.chat.ChatTemplate.Message;
import java.util.List;

/** The question of a row: a text, or a conversation that the policy continues. */
public sealed interface RowQuestion {
  /** A text, which a chat template shows as the message of a user. */
  record PlainQuestion(String text) implements RowQuestion {}

  /**
   * A conversation, which only a chat template can show.
   *
   * @param field that holds it, for messages
   * @param messages at least one; the last is no answer of the assistant
   * @param tools descriptions of tools, as JSON values; may be empty
   */
  record AskedConversation(String field, List<Message> messages, List<Object> tools)
      implements RowQuestion {
    public AskedConversation {
      messages = List.copyOf(messages);
      tools = List.copyOf(tools);
    }

    /** Whether it has a system message of its own. */
    public boolean hasSystem() {
      return messages.stream().anyMatch(message -> message.role().equals("system"));
    }
  }
}
