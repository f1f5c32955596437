package io.troupe.cli.tasks;

import io.troupe.core.reward.PassMark;
import io.troupe.tasks.results.Difficulty;
import io.troupe.tasks.results.ResultFiles;
import io.troupe.tasks.results.StoredResults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Options of which results are read, and by which number. */
final class ResultOptions {
  private static final Path RUNS = Path.of("runs");

  @CommandLine.Spec(CommandLine.Spec.Target.MIXEE)
  private CommandLine.Model.@Nullable CommandSpec command;

  @Option(
      names = "--from",
      paramLabel = "WHAT",
      required = true,
      description =
          "Results; may be given often: the folder that `troupe eval` wrote, a run by its name or"
              + " folder (its rollouts), or a file: results.jsonl, rollouts.jsonl, the output of"
              + " `troupe verify`, lines with id and pass_rate, or pass@k results with prompt_id"
              + " and scores.")
  private List<Path> from = new ArrayList<>();

  @Option(
      names = "--key",
      paramLabel = "KEY",
      description =
          "mean (reward), or pass@K, estimated from all samples of a prompt; default"
              + " ${DEFAULT-VALUE}.")
  private String key = "mean";

  @Option(
      names = "--task",
      paramLabel = "NAME",
      description = "Of an evaluation with several tasks: the lines of this one.")
  private String task = "";

  @Option(
      names = "--pass-reward",
      paramLabel = "REWARD",
      description =
          "Reward that passes, for results that do not say what passed; default ${DEFAULT-VALUE}.")
  private double passReward = 1;

  StoredResults read() throws IOException {
    return ResultFiles.read(places(), task, new PassMark(passReward));
  }

  /** The places as given, a run's name as its folder. */
  List<Path> places() {
    return from.stream()
        .map(place -> Files.exists(place) ? place : RUNS.resolve(place))
        .map(place -> Files.exists(place) ? place : RUNS.relativize(place))
        .toList();
  }

  Difficulty key() {
    try {
      return Difficulty.parse(key);
    } catch (IllegalArgumentException wrong) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(command).commandLine(), "--key: " + wrong.getMessage(), wrong);
    }
  }

  /** A sentence about prompts that are left out, if there are any. */
  Optional<String> unknown(StoredResults read) {
    long count = read.unknown(key());
    return count == 0
        ? Optional.empty()
        : Optional.of(
            String.format(
                Locale.ROOT,
                "%,d of %,d prompts left out: too little of them was judged for %s",
                count,
                read.byId().size(),
                key()));
  }
}
