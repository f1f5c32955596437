package io.troupe.tasks.supervised;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.chat.Thinking;
import io.troupe.chat.TurnEnd;
import io.troupe.engine.Tokenizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The answers of a conversation as the policy's chat template renders them.
 *
 * <p>The text of a conversation up to an answer begins with the text by which that answer is asked
 * for, or else with the text that asks with or without thinking: an answer with a thought follows
 * no empty one. A template whose text begins with none of these is followed from where it writes
 * the content of an answer.
 *
 * @param template of the policy, with its choice of thinking
 * @param tokenizer of the policy
 * @param chat the conversation
 */
record ImitatedTurns(ChatTemplate template, Tokenizer tokenizer, SupervisedRow.Chat chat) {
  private static final String OPEN = "<think>";
  private static final String CLOSE = "</think>";

  /**
   * An answer.
   *
   * @param asked what a sampler reads
   * @param said what it would have to sample, as the template has it, up to the end
   * @param unwritten ids of an end that the template does not write
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  record Turn(String asked, String said, int[] unwritten) {}

  /**
   * Returns the answer at an index.
   *
   * @throws IllegalArgumentException if the template refuses the conversation, or does not show
   *     what the row has
   */
  Turn at(int index) {
    List<Map<String, Object>> messages = chat.messages().subList(0, index + 1);
    List<Map<String, Object>> before = messages.subList(0, index);
    String whole = rendered(messages, false, Map.of());
    String asked =
        asking(before, whole)
            .or(() -> beginning(messages, whole))
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "the chat template leaves out an answer of the assistant, or changes it"));
    requireShown(messages.getLast(), asked, whole);
    return ended(asked, whole.substring(asked.length()));
  }

  private Optional<String> asking(List<Map<String, Object>> before, String whole) {
    for (Map<String, Object> thinking :
        List.of(Map.<String, Object>of(), Thinking.FALSE.arguments(), Thinking.TRUE.arguments())) {
      String asked = rendered(before, true, thinking);
      if (whole.startsWith(asked)) {
        return Optional.of(asked);
      }
    }
    return Optional.empty();
  }

  /** Returns the text before the content of the last answer. */
  private Optional<String> beginning(List<Map<String, Object>> messages, String whole) {
    Map<String, Object> marked = new LinkedHashMap<>(messages.getLast());
    marked.put("content", TurnEnd.MARK);
    marked.remove("reasoning_content");
    List<Map<String, Object>> said = new ArrayList<>(messages);
    said.set(messages.size() - 1, marked);
    String text = rendered(said, false, Map.of());
    int mark = text.lastIndexOf(TurnEnd.MARK);
    return Optional.of(mark)
        .filter(at -> at >= 0 && whole.startsWith(text.substring(0, at)))
        .map(at -> text.substring(0, at));
  }

  private String rendered(
      List<Map<String, Object>> messages, boolean asking, Map<String, Object> thinking) {
    Map<String, Object> arguments = new HashMap<>(thinking);
    arguments.putAll(chat.arguments());
    if (messages.stream().allMatch(each -> each.size() == 2)) {
      return template.render(
          messages.stream()
              .map(
                  each ->
                      new Message(
                          String.valueOf(each.get("role")), String.valueOf(each.get("content"))))
              .toList(),
          asking,
          arguments);
    }
    arguments.put("messages", messages);
    return template.render(List.of(), asking, arguments);
  }

  private Turn ended(String asked, String rest) {
    String said = rest.stripTrailing();
    int[] ids = tokenizer.encodeWithSpecial(said);
    if (ids.length > 0 && tokenizer.isSpecial(ids[ids.length - 1])) {
      return new Turn(asked, said, new int[0]);
    }
    return switch (TurnEnd.of(template, tokenizer)) {
      case TurnEnd.EndText(String text) when said.endsWith(text) ->
          new Turn(asked, said, new int[0]);
      case TurnEnd end -> new Turn(asked, rest, end.ids(tokenizer));
    };
  }

  /** Refuses an answer of which the template leaves a part out. */
  private void requireShown(Map<String, Object> answer, String asked, String whole) {
    String said = whole.substring(asked.length());
    if (chat.arguments().get("tools") instanceof List<?> tools) {
      for (Object tool : tools) {
        if (tool instanceof Map<?, ?> map && map.get("function") instanceof Map<?, ?> function) {
          require(whole, String.valueOf(function.get("name")), "a tool");
        }
      }
    }
    if (answer.get("tool_calls") instanceof List<?> calls) {
      for (Object call : calls) {
        if (call instanceof Map<?, ?> map && map.get("function") instanceof Map<?, ?> function) {
          require(said, String.valueOf(function.get("name")), "a call of a tool");
        }
      }
    }
    require(said, answer.getOrDefault("reasoning_content", ""), "the reasoning of an answer");
    require(said, answer.getOrDefault("thinking", ""), "the thinking of an answer");
    String content = String.valueOf(answer.get("content"));
    int thought = content.lastIndexOf(CLOSE);
    if (thought >= 0) {
      String before = content.substring(0, thought).replace(OPEN, "");
      require(said, before, "the thought of an answer");
      require(said, content.substring(thought + CLOSE.length()), "an answer");
    } else {
      require(said, content, "an answer");
    }
  }

  private void require(String text, Object part, String what) {
    String shown = tokenizer.literal(String.valueOf(part).strip());
    if (!text.contains(shown)) {
      throw new IllegalArgumentException(
          "the chat template leaves out %s, or changes it: \"%s\"; change the row, or take a checkpoint whose template shows it"
              .formatted(what, shown.length() <= 60 ? shown : shown.substring(0, 60) + "…"));
    }
  }
}
