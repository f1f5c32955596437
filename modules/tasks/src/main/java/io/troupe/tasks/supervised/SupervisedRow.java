package io.troupe.tasks.supervised;

import io.troupe.chat.ChatTemplate.Message;
import java.util.List;

/** One row of a supervised data set, before it is tokens. */
public sealed interface SupervisedRow {
  String id();

  /** Returns the source of the row, as the row itself names it; may be empty. */
  String source();

  /** A text to continue, and its continuation. */
  record Text(String id, String source, String prompt, String completion)
      implements SupervisedRow {}

  /**
   * A conversation, whose answers of the assistant are imitated.
   *
   * @param imitatedFrom index of the first message that may be imitated
   */
  record Chat(String id, String source, List<Message> messages, int imitatedFrom)
      implements SupervisedRow {
    public Chat {
      messages = List.copyOf(messages);
    }
  }
}
