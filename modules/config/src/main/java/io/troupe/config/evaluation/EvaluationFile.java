package io.troupe.config.evaluation;

import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.rollout.EpisodeSection;
import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Inline;
import io.troupe.config.task.DataSection;
import java.nio.file.Path;
import java.util.List;

/** The configuration of {@code troupe eval}. */
public record EvaluationFile(
    @Doc("Seed of sampling, and of shares that data sets hold out.") @Default("1") long seed,
    @Doc("For which k pass@k is estimated; none means 1, and the number of samples.")
        List<Integer> k,
    @Doc("What is evaluated, one task after the other.") List<EvaluatedTask> tasks,
    @Doc("Where published data sets are found.") DataSection data,
    @Doc("The pool that judges completions.") VerifierSection verifier)
    implements Validated {
  /** One task of an evaluation. */
  public record EvaluatedTask(
      @Doc("Name of the task in files and tables.") String name,
      @Doc(
              "Turns with tools or an agent, as `episode` of a run; without any, a run's policy"
                  + " acts as the run says, and any other answers once.")
          EpisodeSection episode,
      @Inline EvaluationKeys keys) {
    private static final EpisodeSection AS_THE_RUN =
        ConfigurationFile.bind(EpisodeSection.class, Path.of("episode"), "{}", List.of()).config();

    /** A task whose policy acts as its run says. */
    public static EvaluatedTask asTheRun(String name, EvaluationKeys keys) {
      return new EvaluatedTask(name, AS_THE_RUN, keys);
    }

    /** The task with other keys. */
    public EvaluatedTask with(EvaluationKeys other) {
      return new EvaluatedTask(name, episode, other);
    }
  }

  /** The evaluations that a run makes beside its own. */
  public static EvaluationFile ofRun(
      long seed, List<NamedEvaluation> evaluations, DataSection data, VerifierSection verifier) {
    List<EvaluatedTask> tasks =
        evaluations.stream().map(each -> EvaluatedTask.asTheRun(each.name(), each.keys())).toList();
    return new EvaluationFile(seed, List.of(), tasks, data, verifier);
  }

  /**
   * Reads a file.
   *
   * @param overrides assignments of the command line
   */
  public static ResolvedConfig<EvaluationFile> load(Path file, List<String> overrides) {
    return ConfigurationFile.load(EvaluationFile.class, file, overrides);
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("tasks")
        .require(
            () -> !tasks.isEmpty(), "must list a task", "add '- name: held_out', for a run's rows");
    rules
        .on("tasks")
        .require(
            () -> tasks.stream().map(EvaluatedTask::name).distinct().count() == tasks.size(),
            "must have a name of its own for each task",
            "rename one");
    rules
        .on("k")
        .require(() -> k.stream().allMatch(each -> each >= 1), "must be 1 or greater", "raise it");
  }
}
