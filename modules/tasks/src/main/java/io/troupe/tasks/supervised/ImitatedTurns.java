package io.troupe.tasks.supervised;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.chat.Thinking;
import io.troupe.chat.TurnEnd;
import io.troupe.chat.jinja.GenerationMarks;
import io.troupe.engine.Tokenizer;
import io.troupe.tasks.rows.ChatMessages;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The answers of a conversation as the policy's chat template renders them.
 *
 * <p>A template that marks what the model writes, by {@code {% generation %}}, says what is learnt
 * of the whole conversation, as TRL's {@code assistant_only_loss} takes it. Any other one does not
 * say where an answer begins: the text of a conversation up to an answer begins with the text by
 * which that answer is asked for, or else with the text that asks with or without thinking, since
 * an answer with a thought follows no empty one. A template whose text begins with none of these is
 * followed from where it writes the content of an answer.
 *
 * @param template of the policy, with its choice of thinking
 * @param tokenizer of the policy
 * @param chat the conversation
 */
record ImitatedTurns(ChatTemplate template, Tokenizer tokenizer, SupervisedRow.Chat chat) {
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
   * Returns the answers that are imitated, in their order.
   *
   * @throws IllegalArgumentException if the template refuses the conversation, or does not show
   *     what the row has
   */
  List<Turn> all() {
    String whole = rendered(chat.messages(), false, Map.of());
    new ShownParts(tokenizer)
        .missingTool(whole, chat.arguments().getOrDefault("tools", List.of()))
        .ifPresent(
            missing -> {
              throw missing;
            });
    return marked(whole).orElseGet(() -> chat.imitated().stream().sorted().map(this::at).toList());
  }

  /**
   * Returns the answers as the template marks them in the whole conversation; empty if it does not,
   * or leaves a part of one out once it is past.
   */
  private Optional<List<Turn>> marked(String whole) {
    if (!template.mentions("endgeneration") || GenerationMarks.in(whole)) {
      return Optional.empty();
    }
    List<String> parts =
        GenerationMarks.split(
            rendered(chat.messages(), false, Map.of(GenerationMarks.ARGUMENT, true)));
    List<Integer> answers =
        IntStream.range(0, chat.messages().size())
            .filter(i -> ChatMessages.ASSISTANT.equals(chat.messages().get(i).get("role")))
            .boxed()
            .toList();
    String prompt =
        chat.prompt() == 0
            ? ""
            : rendered(chat.messages().subList(0, chat.prompt()), true, Map.of());
    int asked = whole.startsWith(prompt) ? prompt.length() : 0;
    // A template may write an answer in several parts, or not mark it at all: which part belongs to
    // which answer is known only if there is one for each, and no matter if all are learnt.
    boolean one = parts.size() == 2 * answers.size() + 1;
    boolean all = answers.stream().allMatch(i -> i < chat.prompt() || chat.imitated().contains(i));
    if (!one && (!all || asked < prompt.length())) {
      return Optional.empty();
    }
    List<Turn> turns = new ArrayList<>();
    int from = 0;
    for (int i = 0; 2 * i + 1 < parts.size(); i++) {
      from += parts.get(2 * i).length();
      int until = from + parts.get(2 * i + 1).length();
      if (until > asked && (!one || chat.imitated().contains(answers.get(i)))) {
        int begin = Math.max(from, asked);
        turns.add(new Turn(whole.substring(0, begin), whole.substring(begin, until), new int[0]));
      }
      from = until;
    }
    return Optional.of(turns).filter(shown -> showsAll(shown));
  }

  /** Whether what is learnt has all that the row has. */
  private boolean showsAll(List<Turn> turns) {
    List<Integer> imitated = chat.imitated().stream().sorted().toList();
    boolean one = turns.size() == imitated.size();
    String joined = String.join("", turns.stream().map(Turn::said).toList());
    return IntStream.range(0, imitated.size())
        .allMatch(
            i ->
                new ShownParts(tokenizer)
                    .missingPart(
                        one ? turns.get(i).said() : joined, chat.messages().get(imitated.get(i)))
                    .isEmpty());
  }

  private Turn at(int index) {
    List<Map<String, Object>> messages = chat.messages().subList(0, index + 1);
    List<Map<String, Object>> before = messages.subList(0, index);
    String whole = rendered(messages, false, Map.of());
    String asked =
        asking(before, whole)
            .or(() -> beginning(messages, whole))
            .orElseThrow(() -> otherwise(rendered(before, true, Map.of()), whole));
    String rest = whole.substring(asked.length());
    new ShownParts(tokenizer)
        .missingPart(rest, messages.getLast())
        .ifPresent(
            missing -> {
              throw missing;
            });
    return ended(asked, rest);
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

  private static IllegalArgumentException otherwise(String asked, String whole) {
    int same = 0;
    while (same < Math.min(asked.length(), whole.length())
        && asked.charAt(same) == whole.charAt(same)) {
      same++;
    }
    return new IllegalArgumentException(
        "the chat template asks for an answer by \"%s\" and shows it as \"%s\"; change the thought of the answer, or chat_template_kwargs"
            .formatted(
                ShownParts.shortened(asked.substring(same)),
                ShownParts.shortened(whole.substring(same))));
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
}
