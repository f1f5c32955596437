package io.troupe.tasks;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Makes the prompt text of a question.
 *
 * <ul>
 *   <li>Raw: system prompt and a blank line, preamble and a blank line, each example with its
 *       solution and a blank line, the question, the assistant prefix.
 *   <li>Chat: the model's template over system prompt, examples as earlier turns, and the question
 *       (below the preamble), then the assistant prefix.
 * </ul>
 *
 * Empty parts leave no blank line. Settings of a row take precedence over those of the run.
 *
 * @param form of the text
 * @param systemPrompt text before everything else; may be empty
 * @param assistantPrefix the first words of every answer; may be empty
 * @param preamble text before the question, such as solved examples; may be empty
 * @param examples solved examples before the question
 * @param template of the policy; rendered without thinking
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

  private static final Map<String, Object> WITHOUT_THINKING = Map.of("enable_thinking", false);

  /** The way in which the parts are joined. */
  public enum PromptForm {
    RAW,
    CHAT
  }

  public PromptTemplate {
    examples = List.copyOf(examples);
  }

  /** Returns the text of the prompt. */
  public String text(DataItem item) {
    String system = item.systemPrompt().isEmpty() ? systemPrompt : item.systemPrompt();
    String prefix = item.assistantPrefix().isEmpty() ? assistantPrefix : item.assistantPrefix();
    return switch (form) {
      case RAW -> raw(system, item) + prefix;
      case CHAT -> template.render(turns(system, item), true, WITHOUT_THINKING) + prefix;
    };
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

  private String raw(String system, DataItem item) {
    StringBuilder text = new StringBuilder();
    appendBlock(text, system);
    appendBlock(text, preamble);
    for (DataItem example : examples) {
      appendBlock(text, example.question() + example.solution());
    }
    return text.append(item.question()).toString();
  }

  private List<Message> turns(String system, DataItem item) {
    List<Message> turns = new ArrayList<>();
    if (!system.isEmpty()) {
      turns.add(Message.system(system));
    }
    for (DataItem example : examples) {
      turns.add(Message.user(example.question()));
      turns.add(Message.assistant(example.solution().stripLeading()));
    }
    StringBuilder question = new StringBuilder();
    appendBlock(question, preamble);
    turns.add(Message.user(question.append(item.question()).toString()));
    return turns;
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
          "there are conversations (template: chat, or rows of messages), and the policy has no chat"
              + " template; set template to raw for texts, or take a policy whose checkpoint brings"
              + " one");
    };
  }
}
