package io.troupe.tasks;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.TurnEnd;
import io.troupe.engine.Tokenizer;
import java.util.List;

/**
 * Ends the answers of a task as the policy's chat template ends a turn: what samples them stops
 * there, beside the checkpoint's own ends, and what imitates them learns it. Answers to raw texts
 * end as the checkpoint's texts do.
 *
 * @param template of the policy, with its choice of thinking
 * @param tokenizer of the policy
 */
public record AnswerEnds(ChatTemplate template, Tokenizer tokenizer) {
  /**
   * Returns a task whose answers in chats end so.
   *
   * @param conversing whether raw prompts become conversations too, as with agent programs
   */
  public DataSetTask end(DataSetTask task, boolean conversing) {
    if (!conversing && task.sources().stream().noneMatch(AnswerEnds::chats)) {
      return task;
    }
    TurnEnd end = TurnEnd.of(template, tokenizer);
    List<TaskSource> sources =
        task.sources().stream()
            .map(source -> conversing || chats(source) ? source.ending(end) : source)
            .toList();
    return task.with(task.train(), task.heldOut(), sources);
  }

  private static boolean chats(TaskSource source) {
    return source.promptForm() == PromptTemplate.PromptForm.CHAT;
  }
}
