package io.troupe.tasks;

import static io.troupe.core.Require.require;

import io.troupe.core.prompt.Prompt;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

/**
 * Leaves out prompts whose longest completion would not fit the context after them: a policy whose
 * completions the context cuts off learns from the cut.
 *
 * @param tokens counts the tokens of a prompt
 * @param contextLength of the policy
 * @param maxTokens most tokens of a completion, if its source does not allow fewer
 */
public record ContextFilter(ToIntFunction<Prompt> tokens, int contextLength, int maxTokens) {
  public ContextFilter {
    require(
        maxTokens < contextLength,
        "a completion of %d tokens leaves no room for a prompt in a context of %d",
        maxTokens,
        contextLength);
  }

  /**
   * Returns the task without the prompts that do not fit; the reports of its sources name them.
   *
   * @throws io.troupe.tasks.rows.TaskDataException if one of its data sets has no prompt left to
   *     train on
   */
  public Task filter(DataSetTask task) {
    List<Prompt> train = task.train().stream().filter(prompt -> fits(task, prompt)).toList();
    List<Prompt> heldOut = task.heldOut().stream().filter(prompt -> fits(task, prompt)).toList();
    if (train.size() == task.train().size() && heldOut.size() == task.heldOut().size()) {
      return task;
    }
    List<TaskSource> sources = new ArrayList<>();
    for (TaskSource each : task.sources()) {
      List<ExcludedPrompts> left = new ArrayList<>();
      left.addAll(excluded(task, each, "prompts", task.train()));
      left.addAll(excluded(task, each, "held-out prompts", task.heldOut()));
      SourceReport report = each.report().leaving(left);
      sources.add(each.reporting(report));
    }
    DataSetTask filtered = task.with(train, heldOut, sources);
    refuseEmpty(filtered);
    return filtered;
  }

  private boolean fits(Task task, Prompt prompt) {
    return tokens.applyAsInt(prompt) + longest(task.limits(prompt.source())) <= contextLength;
  }

  private int longest(SourceLimits limits) {
    return limits.maxTokens() == 0 ? maxTokens : Math.min(limits.maxTokens(), maxTokens);
  }

  private List<ExcludedPrompts> excluded(
      Task task, TaskSource source, String what, List<Prompt> prompts) {
    List<Prompt> all =
        prompts.stream().filter(prompt -> prompt.source().equals(source.name())).toList();
    List<Prompt> left = all.stream().filter(prompt -> !fits(task, prompt)).toList();
    if (left.isEmpty()) {
      return List.of();
    }
    int longest = longest(source.limits());
    String limit =
        longest < maxTokens
            ? "max_completion_tokens"
            : "rollout.max_tokens and evaluation.max_tokens";
    return List.of(
        new ExcludedPrompts(
            source.name(),
            left.size(),
            all.size(),
            what,
            "without room for a completion of %d tokens in a context of %d"
                .formatted(longest, contextLength),
            left.getFirst().id().value(),
            "raise policy.context_length, or lower " + limit));
  }

  private static void refuseEmpty(DataSetTask task) {
    Set<String> used = new HashSet<>();
    task.train().forEach(prompt -> used.add(prompt.source()));
    Map<String, List<TaskSource>> sets = new LinkedHashMap<>();
    task.sources()
        .forEach(each -> sets.computeIfAbsent(each.dataSet(), _ -> new ArrayList<>()).add(each));
    sets.forEach(
        (name, sources) -> {
          if (sources.stream().noneMatch(each -> used.contains(each.name()))) {
            throw ExcludedPrompts.nothing(
                name,
                "to train on",
                sources.stream()
                    .flatMap(each -> each.report().left().stream())
                    .distinct()
                    .toList());
          }
        });
  }
}
