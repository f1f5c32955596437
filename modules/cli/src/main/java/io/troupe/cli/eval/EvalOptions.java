package io.troupe.cli.eval;

import io.troupe.cli.tasks.BundledData;
import io.troupe.config.RunConfig;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.config.evaluation.EvaluationFile.EvaluatedTask;
import io.troupe.config.evaluation.EvaluationKeys;
import io.troupe.config.evaluation.EvaluationSampling;
import io.troupe.run.evaluation.EvaluatedPolicy;
import io.troupe.tasks.sets.DataSet;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that choose tasks and change how they are sampled. */
final class EvalOptions {
  @Option(
      names = "--task",
      paramLabel = "NAME",
      description =
          "A data set by its name, as in troupe tasks list, all of its test rows; may be given many"
              + " times.")
  List<String> tasks = new ArrayList<>();

  @Option(
      names = "--samples",
      paramLabel = "N",
      description =
          "Completions of each prompt; more than 1 are sampled at temperature 1 unless"
              + " another one is set.")
  @Nullable Integer samples;

  @Option(
      names = "--k",
      paramLabel = "K",
      split = ",",
      description = "For which k pass@k is estimated: 1,4,16.")
  List<Integer> k = new ArrayList<>();

  @Option(names = "--temperature", paramLabel = "T", description = "Temperature of every task.")
  @Nullable Double temperature;

  @Option(
      names = "--max-tokens",
      paramLabel = "N",
      description = "Most tokens of a completion, of every task.")
  @Nullable Integer maxTokens;

  @Option(
      names = "--prompts",
      paramLabel = "N",
      description = "Most prompts of every task, spread over its rows; 0 means all.")
  @Nullable Integer prompts;

  @Option(names = "--seed", paramLabel = "N", description = "Seed of sampling.")
  @Nullable Long seed;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "Overrides a key of FILE, or of --task: --set tasks[0].datasets[0].file=my.jsonl; may be"
              + " given many times.")
  List<String> overrides = new ArrayList<>();

  /** The evaluation of a run's held-out rows, as the run makes it. */
  static String ownRows(EvaluatedPolicy policy) {
    RunConfig run = policy.run().getFirst().config();
    return """
    seed: %d
    tasks:
      - name: held_out
        prompts: %d
        max_tokens: %d
    """
        .formatted(
            run.run().seed(), run.evaluation().prompts(), run.evaluationSampling().maxTokens());
  }

  /** The file with the evaluations that the run makes beside its own. */
  static EvaluationFile withNamed(EvaluationFile own, EvaluatedPolicy policy) {
    RunConfig run = policy.run().getFirst().config();
    List<EvaluatedTask> all = new ArrayList<>(own.tasks());
    run.evaluations().forEach(each -> all.add(EvaluatedTask.asTheRun(each.name(), each.keys())));
    return new EvaluationFile(own.seed(), own.k(), all, run.data(), run.verifier());
  }

  /** The evaluation of data sets by their names. */
  String named() {
    StringBuilder yaml = new StringBuilder("tasks:\n");
    for (String task : tasks) {
      String name = task.replace('-', '_');
      yaml.append("  - name: %s\n    prompts: 0\n    datasets:\n".formatted(name));
      yaml.append("      - name: %s\n".formatted(name));
      boolean calculated = DataSet.named(name).isEmpty();
      if (!calculated) {
        yaml.append("        split: test\n        held_out_share: 0\n");
        shipped(name).ifPresent(file -> yaml.append("        file: %s\n".formatted(quoted(file))));
      }
    }
    return yaml.toString();
  }

  private static String quoted(Path file) {
    return '"' + file.toString().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  /** Test rows that ship with Troupe. */
  private static Optional<Path> shipped(String dataSet) {
    return BundledData.ofTest(dataSet);
  }

  /** The file with these options laid over it. */
  EvaluationFile over(EvaluationFile file, Function<String, RuntimeException> bad) {
    if ((samples != null && samples < 1) || (prompts != null && prompts < 0)) {
      throw bad.apply("--samples is 1 or greater, and --prompts 0 or greater");
    }
    List<EvaluatedTask> changed =
        file.tasks().stream().map(each -> each.with(over(each.keys()))).toList();
    String alike =
        changed.stream()
            .filter(each -> each.keys().samples() > 1)
            .filter(each -> each.keys().sampling().temperature() == 0)
            .map(EvaluatedTask::name)
            .collect(Collectors.joining(", "));
    if (!alike.isEmpty()) {
      throw bad.apply(
          "all completions of a prompt are equal at temperature 0: set one for " + alike);
    }
    return new EvaluationFile(
        seed == null ? file.seed() : seed,
        k.isEmpty() ? file.k() : k,
        changed,
        file.data(),
        file.verifier());
  }

  private EvaluationKeys over(EvaluationKeys keys) {
    EvaluationKeys changed = samples == null ? keys : keys.withSamples(samples);
    EvaluationSampling sampling = changed.sampling();
    sampling = temperature == null ? sampling : sampling.withTemperature(temperature);
    sampling = maxTokens == null ? sampling : sampling.withMaxTokens(maxTokens);
    changed = changed.with(sampling);
    return prompts == null ? changed : changed.withPrompts(prompts);
  }
}
