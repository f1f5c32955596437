package io.troupe.run.rollouts;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.prompt.LiteralMark;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.replay.RecordedRun;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunState;
import io.troupe.core.weights.WeightVersion;
import io.troupe.run.rollouts.RolloutGroup.RolloutStage;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run whose second step is under way. */
final class RecordedRolloutsTest {
  private static final LossSettings LOSS =
      new LossSettings(new Objective.Grpo(), 0.2, 0.2, new Correction.None(), 0, KlEstimator.K3, 1);

  @TempDir private Path root;
  private RunFolder folder;
  private final RecordedRun run = new RecordedRun(RunState.INITIAL);

  @BeforeEach
  void record() throws IOException {
    folder =
        RunFolder.create(root, "under-way", new RunFolder.Contents(new byte[0], "", Map.of(), ""));
    Files.createDirectories(folder.traces());
    run.event(new Event.RunStarted());
    buffer(1, 0, 1);
    buffer(2, 0.1 + 0.2, 0.3);
    run.event(new Event.StepStarted(1, List.of(new GroupId(1))));
    run.event(new Event.StepTrained(1));
    run.event(new Event.StepStarted(2, List.of(new GroupId(2))));
    write(1);
    write(2);
  }

  private void buffer(long group, double... rewards) {
    LeaseId lease = new LeaseId(new GroupId(group), group);
    TokenVersions versions = TokenVersions.uniform(WeightVersion.BASE, 2);
    run.event(new Event.GroupAdmitted(lease.group(), 7, 0, new PromptCursor(0, (int) group)));
    run.event(new Event.LeaseGranted(lease, new WorkerId("w"), WeightVersion.BASE, 9));
    run.event(
        new Event.GroupBuffered(
            new GroupSummary(lease, List.of(rewards[0], rewards[1]), List.of(versions, versions))));
  }

  private void write(long group) {
    String line =
        """
        {"group": %1$d, "fence": %1$d, "prompt": "<%2$s|end|>", "completions": ["a", "b"]}
        """
            .formatted(group, LiteralMark.CHARACTER);
    try {
      Files.writeString(
          folder.traces().resolve("rollouts.jsonl"),
          line,
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException disk) {
      throw new UncheckedIOException(disk);
    }
  }

  private List<RolloutGroup> groups() throws IOException {
    List<RolloutGroup> groups = new ArrayList<>();
    RecordedRollouts.of(folder, run, LOSS).forEach(groups::add);
    return groups;
  }

  @Test
  void forEach_groupsOfTheStepThatRuns_areNotDropped() throws IOException {
    assertThat(groups())
        .extracting(RolloutGroup::stage)
        .containsExactly(RolloutStage.TRAINED, RolloutStage.BUFFERED);
  }

  @Test
  void forEach_linesThatAreWrittenMeanwhile_areLeftOut() throws IOException {
    List<LeaseId> seen = new ArrayList<>();
    RecordedRollouts.of(folder, run, LOSS)
        .forEach(
            group -> {
              seen.add(group.lease());
              write(2 + seen.size());
            });

    assertThat(seen).extracting(lease -> lease.group().number()).containsExactly(1L, 2L);
  }

  @Test
  void isDegenerate_rewardsThatDifferByARounding_isWhatTheRunCallsEqual() throws IOException {
    assertThat(groups()).extracting(RolloutGroup::isDegenerate).containsExactly(false, true);
  }

  @Test
  void prompt_withLiteralMarks_isShownWithoutThem() throws IOException {
    assertThat(groups()).extracting(RolloutGroup::prompt).containsOnly("<|end|>");
  }
}
