package io.troupe.run.task;

import io.troupe.config.RunConfig;
import io.troupe.config.task.DataSetSection;
import io.troupe.config.task.TaskSection;
import io.troupe.tasks.ExcludedPrompts;
import io.troupe.tasks.Task;
import io.troupe.tasks.sets.DataSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** What a run says of the data that it leaves out, and of the token limits of its data sets. */
public final class DataSummary {
  private DataSummary() {}

  /** One sentence a line; none if everything is used. */
  public static List<String> lines(RunConfig config, Task task) {
    return Stream.concat(leftOut(task), limits(config)).toList();
  }

  /** What the task's data sets have and the run does not use. */
  public static Stream<String> leftOut(Task task) {
    return task.leftOut().stream().map(ExcludedPrompts::describe);
  }

  private static Stream<String> limits(RunConfig config) {
    Stream<DataSetSection> sections =
        switch (config.task()) {
          case DataSetSection section -> Stream.of(section);
          case TaskSection.Mixture mixture -> mixture.datasets().stream();
        };
    return sections.flatMap(section -> limits(section, config).stream());
  }

  private static List<String> limits(DataSetSection section, RunConfig config) {
    int own = section.prompts().maxCompletionTokens();
    int run = config.rollout().maxTokens();
    if (own > config.longestCompletion()) {
      return List.of(
          line(
              "%s: max_completion_tokens (%,d) has no effect; the run allows %,d tokens by"
                  + " rollout.max_tokens",
              section.source(), own, run));
    }
    if (own > 0 && own < run) {
      return List.of(
          line(
              "%s: completions end after %,d tokens, by max_completion_tokens, before the %,d of"
                  + " rollout.max_tokens",
              section.source(), own, run));
    }
    Optional<Integer> published =
        DataSet.named(section.name()).map(set -> set.answers().maxTokens());
    return published.filter(limit -> own == 0 && limit < run).stream()
        .map(
            limit ->
                line(
                    "%s: completions end after %,d tokens, and its published set-up allows %,d;"
                        + " max_completion_tokens: %d applies that",
                    section.source(), run, limit, limit))
        .toList();
  }

  private static String line(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
