package io.troupe.tasks;

import io.troupe.chat.TurnEnd;

/**
 * One of the data sets of a task.
 *
 * @param name by which prompts refer to the source: {@link io.troupe.core.prompt.Prompt#source()}
 * @param dataSet alias of the data set, else its name
 * @param verifier that judges its answers
 * @param promptForm of its prompts: the text of a chat spells special tokens, a raw text does not
 * @param limits of its completions
 * @param end that the policy's chat template writes behind its answers; {@link TurnEnd.Unmarked} of
 *     raw texts, which end as the checkpoint's texts do
 */
public record TaskSource(
    String name,
    String dataSet,
    String verifier,
    PromptTemplate.PromptForm promptForm,
    SourceLimits limits,
    TurnEnd end,
    SourceReport report) {
  /** Returns this source with another report. */
  TaskSource reporting(SourceReport other) {
    return new TaskSource(name, dataSet, verifier, promptForm, limits, end, other);
  }

  /** Returns this source where answers end as those of a policy do. */
  TaskSource ending(TurnEnd turns) {
    return new TaskSource(name, dataSet, verifier, promptForm, limits.ending(turns), turns, report);
  }
}
