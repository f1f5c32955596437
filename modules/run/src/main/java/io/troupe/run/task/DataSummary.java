package io.troupe.run.task;

import io.troupe.chat.TurnEnd;
import io.troupe.config.RunConfig;
import io.troupe.config.rollout.VerifierSection.Reward;
import io.troupe.config.task.DataSetSection;
import io.troupe.config.task.TaskSection;
import io.troupe.core.prompt.Prompt;
import io.troupe.tasks.ExcludedPrompts;
import io.troupe.tasks.Task;
import io.troupe.tasks.TaskSource;
import io.troupe.tasks.sets.DataSet;
import io.troupe.verifiers.VerifierProvider;
import io.troupe.verifiers.VerifierSpec;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The summary of the data that a run leaves out, of the token limits of its data sets, and of the
 * rewarded qualities.
 */
public final class DataSummary {
  private DataSummary() {}

  /**
   * Returns one sentence a line; none if everything is used, and each answer is judged by its data
   * set's verifier.
   *
   * @param verifiers the data sets' own, by source
   */
  public static List<String> lines(
      RunConfig config, Task task, Map<String, VerifierSpec> verifiers) {
    return Stream.of(
            leftOut(task),
            GoldReadings.lines(task, source -> judges(config, source, verifiers)),
            limits(config),
            ends(task),
            rewards(config, verifiers))
        .flatMap(Function.identity())
        .toList();
  }

  private static List<VerifierProvider> judges(
      RunConfig config, TaskSource source, Map<String, VerifierSpec> verifiers) {
    List<Reward> parts = config.verifier().rewardsOf(source.name());
    VerifierSpec own = verifiers.getOrDefault(source.name(), VerifierSpec.named(source.verifier()));
    Stream<String> names =
        parts.isEmpty() ? Stream.of(own.name()) : parts.stream().map(Reward::verifier);
    return GoldReadings.named(names, config.verifier().plugins());
  }

  private static Stream<String> rewards(RunConfig config, Map<String, VerifierSpec> verifiers) {
    return config.episode().hasTurns() || !config.verifier().rewards().isEmpty()
        ? verifiers.entrySet().stream()
            .map(
                each ->
                    "%s: an episode is rewarded by %s"
                        .formatted(each.getKey(), reward(config, each.getKey(), each.getValue())))
        : Stream.empty();
  }

  private static String reward(RunConfig config, String source, VerifierSpec own) {
    List<Reward> parts = config.verifier().rewardsOf(source);
    return parts.isEmpty()
        ? own.name() + ", over its answer"
        : parts.stream().map(DataSummary::part).collect(Collectors.joining(" + "));
  }

  private static String part(Reward reward) {
    String what =
        reward.isOfTurns()
            ? "what its environment gives its turns, in sum from 0 to 1"
            : "%s, over its %s"
                .formatted(reward.verifier(), reward.over().name().toLowerCase(Locale.ROOT));
    return reward.weight() == 1 ? what : "%s × (%s)".formatted(reward.weight(), what);
  }

  /**
   * Returns the rows of the task's data sets that a run does not use, and the expected answers that
   * are compared as text.
   */
  public static Stream<String> ofRows(Task task) {
    return Stream.concat(
        Stream.concat(leftOut(task), ends(task)),
        GoldReadings.lines(
            task, source -> GoldReadings.named(Stream.of(source.verifier()), List.of())));
  }

  /** Returns by what the answers in chats end, beside the checkpoint's own ends. */
  private static Stream<String> ends(Task task) {
    return task.sources().stream().flatMap(source -> end(source).stream());
  }

  private static Optional<String> end(TaskSource source) {
    return switch (source.end()) {
      case TurnEnd.EndToken(int id, String text) ->
          Optional.of(
              line("%s: answers end with %s (%d), by the chat template", source.name(), text, id));
      case TurnEnd.EndText(String text) ->
          Optional.of(
              line(
                  "%s: answers end with the text \"%s\" of the chat template, which is no special"
                      + " token",
                  source.name(), text));
      case TurnEnd.Unmarked() -> Optional.empty();
    };
  }

  private static Stream<String> leftOut(Task task) {
    return task.leftOut().stream().map(ExcludedPrompts::describe);
  }

  /** Returns how many prompts of a user's own data sets have a completion to imitate, if any. */
  public static Stream<String> imitable(RunConfig config, Task task) {
    return sections(config)
        .filter(DataSetSection.Jsonl.class::isInstance)
        .map(DataSetSection.Jsonl.class::cast)
        .flatMap(own -> imitable(own, task).stream());
  }

  private static Optional<String> imitable(DataSetSection.Jsonl own, Task task) {
    List<Prompt> prompts =
        task.train().stream()
            .filter(
                prompt ->
                    prompt.source().equals(own.source())
                        || prompt.source().startsWith(own.source() + "/"))
            .toList();
    long some = prompts.stream().filter(prompt -> !prompt.solution().isEmpty()).count();
    return some == 0
        ? Optional.empty()
        : Optional.of(
            line(
                "%s: %,d of %,d prompts have a completion to imitate, in the column %s",
                own.source(), some, prompts.size(), own.solutionField()));
  }

  private static Stream<String> limits(RunConfig config) {
    return sections(config).flatMap(section -> limits(section, config).stream());
  }

  private static Stream<DataSetSection> sections(RunConfig config) {
    return switch (config.task()) {
      case DataSetSection section -> Stream.of(section);
      case TaskSection.Mixture mixture -> mixture.datasets().stream();
    };
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
