package io.troupe.cli.gym;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cli.CommandOutput;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GymCommandTest {
  private static final String CONF = "../../conf/gym-arithmetic.yaml";
  private static final List<String> SMALL =
      List.of(
          "trials.seeds=[1]",
          "trials.arms=[weakness, uniform]",
          "trials.iterations=1",
          "trials.rows=10",
          "task.validation_items=5",
          "task.test_items=5",
          "task.base_rows=8",
          "gate.others_least=0",
          "policy.hidden=16",
          "policy.head_dim=4",
          "policy.feed_forward=16",
          "student.base_steps=2",
          "student.epochs=1");

  @TempDir private Path root;

  private String[] run(String... more) {
    List<String> words = new ArrayList<>(List.of("gym", "run", CONF));
    SMALL.forEach(each -> words.addAll(List.of("--set", each)));
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }

  @Test
  void run_smallGym_endsWithItsReportAndResumesToTheSame() throws Exception {
    String folder = root.resolve("g").toString();

    assertThat(CommandOutput.ending(0, run("-o", folder)).out())
        .contains("trial 2/2 uniform seed 1, iteration 1: trained, 1 steps")
        .contains("Rows made and refused:");
    String history = Files.readString(root.resolve("g/performance_history.csv"));
    assertThat(history.lines()).hasSize(1 + 2 * 4 * 9);

    CommandOutput.ending(0, "gym", "run", "--resume", folder);
    assertThat(Files.readString(root.resolve("g/performance_history.csv"))).isEqualTo(history);
    CommandOutput.ending(0, "gym", "report", folder, "--svg", root.resolve("a.svg").toString());
    assertThat(root.resolve("a.svg")).isNotEmptyFile();
  }

  @Test
  void run_aFolderThatExists_isRefusedWithTheWayOn() {
    assertThat(CommandOutput.ending(4, run("-o", root.toString())).err())
        .contains("exists; continue it with --resume");
  }

  @Test
  void run_dry_countsAndMakesNothing() {
    assertThat(CommandOutput.ending(0, run("--dry-run", "-o", root.resolve("g").toString())).out())
        .contains("2 trials (1 seeds, 2 arms), 1 iterations of at most 10 new rows each")
        .contains("0 calls of a language model");
    assertThat(root.resolve("g")).doesNotExist();
  }

  @Test
  void run_withoutFile_orWithBoth_isBadUsage() {
    CommandOutput.ending(2, "gym", "run");
    CommandOutput.ending(2, "gym", "run", CONF, "--resume", "x");
    assertThat(CommandOutput.ending(2, "gym", "report", root.toString()).err())
        .contains("is no folder of a gym");
  }
}
