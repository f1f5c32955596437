package io.troupe.store.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokens of steps: read back as they were, bounded, and never in the way of training. */
class StepTokenFilesTest {
  private final Path folder;
  private final List<String> said = new ArrayList<>();

  StepTokenFilesTest(@TempDir Path folder) {
    this.folder = folder.resolve("tokens");
  }

  private StepTokenFiles open(long keepBytes) throws IOException {
    return StepTokenFiles.open(folder, keepBytes, said::add);
  }

  private static ScoredGroup group(long id, float logProb) {
    Completion completion =
        new Completion(
            new int[] {3, 1, 4},
            new float[] {logProb, -0.1f, -1e-30f},
            TokenVersions.of(new long[] {5, 5, 6}),
            FinishReason.STOP);
    return ScoredGroup.ofCompletions(
        new LeaseId(new GroupId(id), id), new int[] {7, 8}, List.of(completion), List.of(0.5));
  }

  private long stored() throws IOException {
    return StepTokenFiles.sizes(folder).values().stream().mapToLong(Long::longValue).sum();
  }

  @Test
  void read_writtenStep_isTheSameAndAStepMadeAgainReplacesIt() throws IOException {
    open(0).write(4, List.of(group(1, -2), group(2, -3)));
    open(0).write(4, List.of(group(2, -0.33333334f), group(9, -5)));

    List<ScoredGroup> read = StepTokenFiles.read(folder, 4);

    assertThat(read.stream().map(ScoredGroup::lease))
        .containsExactly(group(2, 0).lease(), group(9, 0).lease());
    assertThat(read.getFirst().digests()).isEqualTo(group(2, -0.33333334f).digests());
    assertThat(read.getFirst().summary()).isEqualTo(group(2, 0).summary());
    assertThat(said).isEmpty();
  }

  @Test
  void write_beyondTheBound_dropsTheOldestStepsAlsoOfAProcessBefore() throws IOException {
    open(0).write(8, List.of(group(1, -2)));
    long bytes = stored();
    StepTokenFiles bounded = open(3 * bytes + bytes / 2);
    for (long step = 9; step <= 12; step++) {
      bounded.write(step, List.of(group(1, -2)));
    }

    assertThat(StepTokenFiles.sizes(folder)).containsOnlyKeys(10L, 11L, 12L);
    StepTokenFiles none = open(1);
    none.write(13, List.of(group(1, -2)));
    assertThat(StepTokenFiles.sizes(folder)).as("the newest stays").containsOnlyKeys(13L);
  }

  @Test
  void read_fileThatWasCutOff_namesIt() throws IOException {
    open(0).write(1, List.of(group(1, -2)));
    Path file = StepTokenFiles.file(folder, 1);
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 9));

    assertThatIOException()
        .isThrownBy(() -> StepTokenFiles.read(folder, 1))
        .withMessageStartingWith(file + " is damaged: ");
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> StepTokenFiles.read(folder, 2));
  }

  @Test
  void write_fileCannotBeMade_isReportedOnceAndLaterStepsAreStored() throws IOException {
    StepTokenFiles files = open(0);
    Files.createDirectories(StepTokenFiles.file(folder, 1));
    Files.createDirectories(StepTokenFiles.file(folder, 2));
    files.write(1, List.of(group(1, -2)));
    files.write(2, List.of(group(1, -2)));
    files.write(3, List.of(group(1, -2)));

    assertThat(said)
        .hasSize(1)
        .first()
        .asString()
        .contains("step-1.jsonl.gz", "training continues");
    assertThat(StepTokenFiles.read(folder, 3)).hasSize(1);
    StepTokenFiles.off().write(4, List.of(group(1, -2)));
    assertThat(StepTokenFiles.sizes(folder)).doesNotContainKey(4L);
  }
}
