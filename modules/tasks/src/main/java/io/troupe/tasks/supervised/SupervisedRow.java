package io.troupe.tasks.supervised;

import io.troupe.chat.ChatTemplate.Message;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** One row of a supervised data set, before it is tokens. */
public sealed interface SupervisedRow {
  String id();

  /** Returns the source of the row, as the row itself names it; may be empty. */
  String source();

  /** A text to continue, and its continuation. */
  record Text(String id, String source, String prompt, String completion)
      implements SupervisedRow {}

  /**
   * A conversation, some of whose answers of the assistant are imitated.
   *
   * @param messages as a chat template sees them: role, content, calls of tools, reasoning
   * @param prompt how many of them were given as a prompt, behind which is what is learnt; 0 for a
   *     row without one
   * @param arguments further variables of the template, such as {@code tools}
   * @param imitated indices of the answers that are imitated
   */
  record Chat(
      String id,
      String source,
      List<Map<String, Object>> messages,
      int prompt,
      Map<String, Object> arguments,
      Set<Integer> imitated)
      implements SupervisedRow {
    public Chat {
      messages = List.copyOf(messages);
      arguments = Map.copyOf(arguments);
      imitated = Set.copyOf(imitated);
    }

    /**
     * A conversation of texts.
     *
     * @param imitatedFrom index of the first message behind the prompt
     */
    public Chat(String id, String source, List<Message> messages, int imitatedFrom) {
      this(
          id,
          source,
          messages.stream()
              .<Map<String, Object>>map(
                  each -> Map.of("role", each.role(), "content", each.content()))
              .toList(),
          imitatedFrom,
          Map.of(),
          IntStream.range(imitatedFrom, messages.size())
              .filter(i -> messages.get(i).role().equals("assistant"))
              .boxed()
              .collect(Collectors.toUnmodifiableSet()));
    }
  }
}
