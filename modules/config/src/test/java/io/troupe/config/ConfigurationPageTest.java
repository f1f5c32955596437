package io.troupe.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.config.schema.SchemaTables;
import io.troupe.config.supervised.SupervisedConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** docs/configuration.md is what the schema says. */
final class ConfigurationPageTest {
  private static final Path PAGE = Path.of("../../docs/configuration.md");

  private static final String INTRODUCTION =
      """
      # Configuration

      A run is one YAML file. `troupe plan FILE` prints what it comes to; `troupe train FILE` runs it.

      - Every key of a file is checked before anything starts, and everything wrong is listed at once:
        place, key, rule, value given, what to do. Unknown keys and keys that are there twice are errors.
      - `--set path=value` overrides a key from the command line: `--set training.steps=20`. Lists and quoted texts are YAML, as in a file
        (`--set 'rollout.stop=["\\n\\n", "Q:"]'`); any other text is what it is.
      - Durations carry their unit: `250ms`, `60s`, `5m`, `2h`. Numbers may group digits: `1_000_000`.
      - Anchors, aliases and tags of YAML are refused.
      - Where 0 means something special, the table says so.

      This page is generated: `mvn -pl modules/config test -Dtest=ConfigurationPageTest -Dtroupe.docs.update=true`
      rewrites it from the records in `io.troupe.config`.
      """;

  private static final String SUPERVISED =
      """

      # Supervised runs

      `troupe sft FILE` runs another file: [training.md](training.md#supervised-training). Its sections `run`, `policy`, `data`, `evaluations`, `verifier` and `checkpoint`
      are those above.
      """;

  @Test
  void page_comparedToTheSchema_isTheSame() throws IOException {
    String expected =
        INTRODUCTION
            + SchemaTables.markdown(RunConfig.class)
            + SUPERVISED
            + SchemaTables.markdown(SupervisedConfig.class, Set.of("datasets", "training"));
    if (Boolean.getBoolean("troupe.docs.update")) {
      Files.writeString(PAGE, expected);
    }

    assertThat(Files.readString(PAGE))
        .as("docs/configuration.md is out of date; run again with -Dtroupe.docs.update=true")
        .isEqualTo(expected);
  }
}
