package io.troupe.cli.eval;

import io.troupe.base.build.BuildInfo;
import java.nio.file.Path;
import java.util.Optional;

/** Test rows of published data sets in {@code conf/data}; those of GSM8K are training rows. */
final class ShippedTestData {
  private ShippedTestData() {}

  /** The file of a data set, if one ships. */
  static Optional<Path> of(String dataSet) {
    Optional<String> name =
        switch (dataSet) {
          case "math" -> Optional.of("math500/test.jsonl.gz");
          case "mbpp" -> Optional.of("mbpp/mbpp.jsonl.gz");
          case "humaneval" -> Optional.of("humaneval/test.jsonl.gz");
          case "ifeval" -> Optional.of("ifeval/input_data.jsonl.gz");
          case "ifbench" -> Optional.of("ifbench/test.jsonl.gz");
          default -> Optional.empty();
        };
    return name.map(file -> BuildInfo.home().resolve("conf").resolve("data").resolve(file));
  }
}
