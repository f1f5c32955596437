package io.troupe.tasks;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.core.prompt.LiteralMark;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataItem;
import io.troupe.tasks.sets.RowQuestion.AskedConversation;
import io.troupe.tasks.sets.RowQuestion.PlainQuestion;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes the prompt text of a question.
 *
 * <ul>
 *   <li>Raw: system prompt and a blank line, preamble and a blank line, each example with its
 *       solution and a blank line, the question, the assistant prefix.
 *   <li>Chat: the model's template over system prompt, examples as earlier turns, and the question
 *       (below the preamble), then the assistant prefix. A question that is a conversation is in
 *       place of the question, and of the system prompt if it has a system message.
 * </ul>
 *
 * Empty parts leave no blank line. Settings of a row take precedence over those of the run.
 *
 * @param form of the text
 * @param systemPrompt text before everything else; may be empty
 * @param assistantPrefix the first words of every answer; may be empty
 * @param preamble text before the question, such as solved examples; may be empty
 * @param examples solved examples before the question
 * @param template of the policy, with its choice of thinking
 */
public record PromptTemplate(
    PromptForm form,
    String systemPrompt,
    String assistantPrefix,
    String preamble,
    List<DataItem> examples,
    ChatTemplate template) {
  /** The question without any text around it. */
  public static final PromptTemplate PLAIN =
      new PromptTemplate(PromptForm.RAW, "", "", "", List.of(), noTemplate());

  private static final String SYSTEM = "system";

  /** The way in which the parts are joined. */
  public enum PromptForm {
    RAW,
    CHAT
  }

  public PromptTemplate {
    examples = List.copyOf(examples);
  }

  /**
   * Returns the text of the prompt.
   *
   * @throws RowException if the policy's chat template does not show all of its row
   */
  public String text(DataItem item) throws RowException {
    String prefix = item.assistantPrefix().isEmpty() ? assistantPrefix : item.assistantPrefix();
    return switch (item.question()) {
      case PlainQuestion(String question) ->
          switch (form) {
            case RAW -> raw(item, question) + prefix;
            case CHAT -> rendered(item, "the question ", List.of()) + prefix;
          };
      case AskedConversation conversation -> shown(item, conversation) + prefix;
    };
  }

  /** Returns the template's text of a row, which has all that it asks. */
  private String rendered(DataItem item, String what, List<Object> tools) throws RowException {
    List<Message> turns = turns(item);
    String text;
    try {
      text = template.render(turns, true, Map.of());
      text = tools.isEmpty() ? text : withTools(turns, tools, text);
    } catch (IllegalArgumentException refused) {
      throw new RowException(
          what + "must be a conversation that the policy's chat template shows",
          "this one",
          String.valueOf(refused.getMessage()));
    }
    String shown = LiteralMark.removed(text);
    for (Message each : turns) {
      boolean asks = each.role().equals(SYSTEM) || each.role().equals("user");
      if (asks && !shown.contains(LiteralMark.removed(each.content()).strip())) {
        throw new RowException(
            "%smust be shown by the policy's chat template, which leaves out the text of the %s"
                .formatted(what, each.role()),
            each.content(),
            "change the row, or take a policy whose template shows it");
      }
    }
    return text;
  }

  private String shown(DataItem item, AskedConversation conversation) throws RowException {
    String field = "\"%s\" ".formatted(conversation.field());
    if (form == PromptForm.RAW) {
      throw new RowException(
          field + "must be a text where task.template is raw",
          "a conversation",
          "set task.template to chat");
    }
    if (conversation.hasSystem() && !item.systemPrompt().isEmpty()) {
      throw new RowException(
          field + "must have no system message beside a field system_prompt",
          "one of both",
          "remove one of the two");
    }
    try {
      return rendered(item, field, conversation.tools());
    } catch (TaskDataException none) {
      throw new RowException(
          field + "must be a conversation that the policy's chat template shows",
          "this one",
          String.valueOf(none.getMessage()));
    }
  }

  private String withTools(List<Message> turns, List<Object> tools, String without)
      throws RowException {
    Map<String, Object> arguments = new HashMap<>();
    arguments.put("tools", tools);
    String with = template.render(turns, true, arguments);
    if (with.equals(without)) {
      throw new RowException(
          "\"tools\" must be shown by the policy's chat template",
          "left out by it",
          "remove the column, or take a policy whose template knows tools");
    }
    return with;
  }

  /**
   * Returns the completion to imitate. A chat template opens the answer, so a leading space is
   * removed there.
   */
  public String solution(DataItem item) {
    return switch (form) {
      case RAW -> item.solution();
      case CHAT -> item.solution().stripLeading();
    };
  }

  private String raw(DataItem item, String question) throws RowException {
    StringBuilder text = new StringBuilder();
    appendBlock(text, system(item));
    appendBlock(text, preamble);
    for (DataItem example : examples) {
      if (!(example.question() instanceof PlainQuestion(String asked))) {
        throw new RowException(
            "the examples of task.few_shot_file must be texts where task.template is raw",
            "conversations",
            "set task.template to chat");
      }
      appendBlock(text, asked + example.solution());
    }
    return text.append(question).toString();
  }

  private String system(DataItem item) {
    return item.systemPrompt().isEmpty() ? systemPrompt : item.systemPrompt();
  }

  private List<Message> turns(DataItem item) {
    List<Message> turns = new ArrayList<>();
    List<Message> asked = asked(item, preamble);
    boolean ownSystem = asked.getFirst().role().equals(SYSTEM);
    if (ownSystem) {
      turns.add(asked.getFirst());
    } else if (!system(item).isEmpty()) {
      turns.add(Message.system(system(item)));
    }
    for (DataItem example : examples) {
      turns.addAll(asked(example, ""));
      turns.add(Message.assistant(example.solution().stripLeading()));
    }
    turns.addAll(ownSystem ? asked.subList(1, asked.size()) : asked);
    return turns;
  }

  /** Returns the messages of a question, the text before it in the last of them. */
  private static List<Message> asked(DataItem item, String before) {
    return switch (item.question()) {
      case PlainQuestion(String text) -> List.of(Message.user(below(before, text)));
      case AskedConversation(_, List<Message> messages, _) -> {
        Message last = messages.getLast();
        List<Message> asked = new ArrayList<>(messages.subList(0, messages.size() - 1));
        asked.add(new Message(last.role(), below(before, last.content())));
        yield asked;
      }
    };
  }

  private static String below(String block, String text) {
    StringBuilder whole = new StringBuilder();
    appendBlock(whole, block);
    return whole.append(text).toString();
  }

  private static void appendBlock(StringBuilder text, String block) {
    if (!block.isEmpty()) {
      text.append(block).append("\n\n");
    }
  }

  /** Returns the template of a policy without a chat template, which refuses every conversation. */
  public static ChatTemplate noTemplate() {
    return (_, _, _) -> {
      throw new TaskDataException(
          "there are conversations (template: chat, or rows of messages), and the policy has no"
              + " chat template; set template to raw for texts, or take a policy whose checkpoint"
              + " brings one");
    };
  }
}
