package io.troupe.engine.parallel;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class VersionFilesTest {
  @TempDir private Path memory;
  @TempDir private Path scratch;

  private final List<String> reasons = new ArrayList<>();

  /** Ranks that only have folders. */
  private final class FoldersOnly implements TrainerRanks {
    private final boolean full;

    FoldersOnly(boolean full) {
      this.full = full;
    }

    @Override
    public Optional<Path> memory() {
      return Optional.of(memory);
    }

    @Override
    public void reserve(StateFiles files) throws IOException {
      if (full) {
        throw new IOException("it is full");
      }
    }

    @Override
    public void withoutMemory(String reason) {
      reasons.add(reason);
    }

    @Override
    public Path scratch() {
      return scratch;
    }

    @Override
    public int size() {
      return 1;
    }

    @Override
    public void begin(Path state) {}

    @Override
    public List<RankStepOutcome> step(List<RankBatch> shares, OptimizerSettings optimisation) {
      return List.of();
    }

    @Override
    public void write(StateFiles files) {}

    @Override
    public void freezeReference() {}

    @Override
    public Optional<String> recover(long steps) {
      return Optional.empty();
    }

    @Override
    public void wentBack(long steps, String reason) {}

    @Override
    public void lost(String reason) {}

    @Override
    public void close() {}
  }

  /** A trainer that makes an empty file. */
  private static final class OneFile implements DataParallelSteps.Owner {
    @Override
    public StateFiles createWeights(Path directory) throws IOException {
      Files.createFile(directory.resolve("w"));
      return new StateFiles(directory, List.of("w"), List.of(StatePart.WEIGHTS), false);
    }

    @Override
    public StateFiles createCheckpoint(Path directory) throws IOException {
      return createWeights(directory);
    }

    @Override
    public void save(Path directory) {}

    @Override
    public void readWeights(Path directory) {}
  }

  @Test
  void of_memoryWithRoom_hasTheFilesUntilTheyAreDeleted() throws IOException {
    VersionFiles files = new VersionFiles(new FoldersOnly(false));
    StateFiles first = files.of(new OneFile());
    assertThat(first.folder()).hasParent(memory);
    assertThat(files.of(new OneFile())).isSameAs(first);
    files.delete();
    assertThat(first.folder()).doesNotExist();
    assertThat(files.of(new OneFile()).folder())
        .hasParent(memory)
        .isNotEqualTo(first.folder())
        .exists();
    assertThat(reasons).isEmpty();
  }

  @Test
  void of_memoryThatIsFull_isOnTheDiskAloudAndLeavesNothingInMemory() throws IOException {
    VersionFiles files = new VersionFiles(new FoldersOnly(true));
    assertThat(files.of(new OneFile()).folder()).hasParent(scratch).exists();
    assertThat(memory).isEmptyDirectory();
    assertThat(reasons).containsExactly("it is full");
  }

  @Test
  void of_memoryThatTakesNoFolder_isOnTheDiskAloud() throws IOException {
    Files.createFile(memory.resolve("version-0"));
    VersionFiles files = new VersionFiles(new FoldersOnly(false));
    assertThat(files.of(new OneFile()).folder()).hasParent(scratch);
    assertThat(reasons).hasSize(1);
  }
}
