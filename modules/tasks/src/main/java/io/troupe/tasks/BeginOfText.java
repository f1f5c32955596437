package io.troupe.tasks;

import io.troupe.core.prompt.Prompt;
import io.troupe.engine.Tokenizer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Puts what a policy's texts begin with before the raw prompts of a task: a template of its own
 * begins a chat, and nothing else does a raw text. A prompt that begins with it already stays.
 *
 * @param tokenizer of the policy
 */
public record BeginOfText(Tokenizer tokenizer) {
  /** The task with its raw prompts begun. */
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
                    : new Prompt(
                        prompt.id(),
                        prompt.source(),
                        tokenizer.withTextStart(prompt.text()),
                        prompt.answer(),
                        prompt.solution()))
        .toList();
  }
}
