package io.troupe.run.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.store.file.JsonLinesFile;
import io.troupe.telemetry.StepTable;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The screen of a run that loses groups. */
final class RunOutputTest {
  @TempDir private Path folder;

  @Test
  void account_lostGroups_areThereByReason() throws Exception {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(text, true, StandardCharsets.UTF_8);
    try (JsonLinesFile metrics =
        JsonLinesFile.open(folder.resolve("metrics.jsonl"), Duration.ofSeconds(1), _ -> {})) {
      RunOutput output =
          new RunOutput(out, out, false, StepTable.ASCII, metrics, GroupSize.fixed(8));
      for (int i = 1; i <= 3; i++) {
        LeaseId lease = new LeaseId(new GroupId(i), 1);
        output.happened(0, new Event.LeaseEnded(lease, LeaseEndReason.FAILED, "no number"));
      }
      output.account(new RunEnd.Completed(), RunState.INITIAL, Duration.ofSeconds(1));
    }

    assertThat(text.toString(StandardCharsets.UTF_8).lines())
        .filteredOn(line -> line.contains("no number"))
        .containsExactly(
            StepTable.ASCII.note("a group was lost, failed: no number"),
            "       lost in this session 3 groups: 3 failed: no number");
  }

  @Test
  void account_testsWithoutARewardFile_areCountedOnTheScreen() throws Exception {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(text, true, StandardCharsets.UTF_8);
    try (JsonLinesFile metrics =
        JsonLinesFile.open(folder.resolve("metrics.jsonl"), Duration.ofSeconds(1), _ -> {})) {
      RunOutput output =
          new RunOutput(out, out, false, StepTable.ASCII, metrics, GroupSize.fixed(8));
      Verdict none = new Verdict.Scored(0, "", "harbor 0.9 × 0.00 (the tests left no reward)");
      Verdict wrong = new Verdict.Scored(0, "", "the tests give 0.0");
      for (int i = 1; i <= 6; i++) {
        output.judged(List.of(none, wrong, none));
      }
      output.account(new RunEnd.Completed(), RunState.INITIAL, Duration.ofSeconds(1));
    }

    assertThat(text.toString(StandardCharsets.UTF_8).lines())
        .filteredOn(line -> line.contains("left no reward file"))
        .extracting(line -> line.replaceFirst(" completions have.*", "").strip())
        .containsExactly(
            StepTable.ASCII.note("2 of 3").strip(),
            StepTable.ASCII.note("10 of 15").strip(),
            "12 of 18");
  }
}
