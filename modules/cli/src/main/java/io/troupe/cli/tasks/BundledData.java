package io.troupe.cli.tasks;

import io.troupe.base.build.BuildInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The data files in {@code conf/data}, by which a task can be looked at without a network. They are
 * chosen for looking only: a run names its files, because some of these are test data.
 */
public final class BundledData {
  private BundledData() {}

  /** The file with test rows of a published data set, if one ships; GSM8K's are training rows. */
  public static Optional<Path> ofTest(String dataSet) {
    return dataSet.equals("gsm8k") ? Optional.empty() : of(dataSet);
  }

  /** The file with rows of a published data set, if one ships. */
  static Optional<Path> of(String dataSet) {
    return name(dataSet)
        .map(BuildInfo.home().resolve("conf").resolve("data")::resolve)
        .filter(Files::isRegularFile);
  }

  private static Optional<String> name(String dataSet) {
    return switch (dataSet) {
      case "gsm8k" -> Optional.of("gsm8k/train.jsonl.gz");
      case "math" -> Optional.of("math500/test.jsonl.gz");
      case "mbpp" -> Optional.of("mbpp/mbpp.jsonl.gz");
      case "humaneval" -> Optional.of("humaneval/test.jsonl.gz");
      case "ifeval" -> Optional.of("ifeval/input_data.jsonl.gz");
      case "ifbench" -> Optional.of("ifbench/test.jsonl.gz");
      default -> Optional.empty();
    };
  }

  /** Whether the command line says nothing of where a task's rows are. */
  static boolean isWanted(List<String> overrides) {
    return overrides.stream()
        .noneMatch(each -> each.startsWith("task.file=") || each.startsWith("data."));
  }
}
