package io.troupe.tasks;

import static io.troupe.core.Require.require;

import io.troupe.core.prompt.Prompt;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

/**
 * Leaves out prompts whose longest completion would not fit behind them: a policy that is cut off
 * by its context learns from the cut.
 *
 * @param tokens of a prompt
 * @param contextLength of the policy
 * @param maxTokens of a completion, where its source does not allow fewer
 */
public record HeadRoom(ToIntFunction<Prompt> tokens, int contextLength, int maxTokens) {
  public HeadRoom {
    require(
        maxTokens < contextLength,
        "a completion of %d tokens leaves no room for a prompt in a context of %d",
        maxTokens,
        contextLength);
  }

  /**
   * The task without the prompts that do not fit; its sources' reports count them.
   *
   * @throws BadTaskData if nothing to train on is left
   */
  public Task filter(DataSetTask task) {
    Map<String, Integer> dropped = new HashMap<>();
    List<Prompt> train = fitting(task, task.train(), dropped);
    List<Prompt> heldOut = fitting(task, task.heldOut(), dropped);
    if (dropped.isEmpty()) {
      return task;
    }
    if (train.isEmpty()) {
      throw new BadTaskData(
          ("no prompt of task %s leaves room for its completion in a context of %d tokens; raise"
                  + " policy.context_length, or lower rollout.max_tokens")
              .formatted(task.name(), contextLength));
    }
    List<TaskSource> sources = new ArrayList<>();
    for (TaskSource each : task.sources()) {
      SourceReport report =
          each.report().leaving("prompts without head-room", dropped.getOrDefault(each.name(), 0));
      sources.add(new TaskSource(each.name(), each.verifier(), each.form(), each.limits(), report));
    }
    return task.with(train, heldOut, sources);
  }

  private List<Prompt> fitting(Task task, List<Prompt> prompts, Map<String, Integer> dropped) {
    List<Prompt> kept = new ArrayList<>(prompts.size());
    for (Prompt prompt : prompts) {
      int own = task.limits(prompt.source()).maxTokens();
      int longest = own == 0 ? maxTokens : Math.min(own, maxTokens);
      if (tokens.applyAsInt(prompt) + longest <= contextLength) {
        kept.add(prompt);
      } else {
        dropped.merge(prompt.source(), 1, Integer::sum);
      }
    }
    return kept;
  }
}
