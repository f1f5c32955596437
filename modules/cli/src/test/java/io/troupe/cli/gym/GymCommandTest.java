package io.troupe.cli.gym;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cli.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

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

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path root;

  private int troupe(String... arguments) {
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out));
    command.setErr(new PrintWriter(err));
    return command.execute(arguments);
  }

  private String[] run(String... more) {
    List<String> words = new ArrayList<>(List.of("gym", "run", CONF));
    SMALL.forEach(each -> words.addAll(List.of("--set", each)));
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }

  @Test
  void run_smallGym_endsWithItsReportAndResumesToTheSame() throws Exception {
    String folder = root.resolve("g").toString();

    assertThat(troupe(run("-o", folder))).as(err.toString()).isZero();
    assertThat(out.toString())
        .contains("trial 2/2 uniform seed 1, iteration 1: trained, 1 steps")
        .contains("Rows made and refused:");
    String history = Files.readString(root.resolve("g/performance_history.csv"));
    assertThat(history.lines()).hasSize(1 + 2 * 4 * 9);

    assertThat(troupe("gym", "run", "--resume", folder)).isZero();
    assertThat(Files.readString(root.resolve("g/performance_history.csv"))).isEqualTo(history);
    assertThat(troupe("gym", "report", folder, "--svg", root.resolve("a.svg").toString())).isZero();
    assertThat(root.resolve("a.svg")).isNotEmptyFile();
  }

  @Test
  void run_aFolderThatExists_isRefusedWithTheWayOn() {
    assertThat(troupe(run("-o", root.toString()))).isEqualTo(4);
    assertThat(err.toString()).contains("exists; continue it with --resume");
  }

  @Test
  void run_dry_countsAndMakesNothing() {
    assertThat(troupe(run("--dry-run", "-o", root.resolve("g").toString()))).isZero();
    assertThat(out.toString())
        .contains("2 trials (1 seeds, 2 arms), 1 iterations of at most 10 new rows each")
        .contains("0 calls of a language model");
    assertThat(root.resolve("g")).doesNotExist();
  }

  @Test
  void run_withoutFile_orWithBoth_isBadUsage() {
    assertThat(troupe("gym", "run")).isEqualTo(2);
    assertThat(troupe("gym", "run", CONF, "--resume", "x")).isEqualTo(2);
    assertThat(troupe("gym", "report", root.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("is no folder of a gym");
  }
}
