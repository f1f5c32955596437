package io.troupe.tasks;

import io.troupe.core.prompt.Prompt;
import io.troupe.engine.Tokenizer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Puts the special tokens that begin a policy's texts before the raw prompts of a task. The
 * template of a chat adds these tokens itself; for a raw prompt no other part of the program does.
 * A prompt that begins with them already stays as it is.
 *
 * @param tokenizer of the policy
 */
public record BeginOfText(Tokenizer tokenizer) {
  /** Returns the task with these tokens before its raw prompts. */
  public DataSetTask begin(DataSetTask task) {
    if (tokenizer.textStart().isEmpty()) {
      return task;
    }
    Set<String> raw = new HashSet<>();
    for (TaskSource source : task.sources()) {
      if (source.promptForm() == PromptTemplate.PromptForm.RAW) {
        raw.add(source.name());
      }
    }
    return task.with(begun(task.train(), raw), begun(task.heldOut(), raw), task.sources());
  }

  private List<Prompt> begun(List<Prompt> prompts, Set<String> raw) {
    return prompts.stream()
        .map(
            prompt ->
                !raw.contains(prompt.source())
                    ? prompt
                    : prompt.worded(tokenizer.withTextStart(prompt.text())))
        .toList();
  }
}
