package io.troupe.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.evaluation.ShardRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShardMergeTest {
  @TempDir private Path folder;

  private Path shard(int index) throws IOException {
    Path path = folder.resolve("s" + index);
    Evaluations.run(path, protocol(new ShardRange(index, 3)));
    return path;
  }

  private static EvaluationProtocol protocol(ShardRange shard) {
    return Evaluations.protocol(
        shard, Evaluations.task("few", 10, 1), Evaluations.task("many", 4, 3));
  }

  @Test
  void into_allShards_givesTheFilesOfTheWhole() throws IOException {
    Evaluations.run(folder.resolve("whole"), protocol(ShardRange.WHOLE));

    new ShardMerge(List.of(shard(3), shard(1), shard(2)))
        .into(folder.resolve("all"), Evaluations.CLOCK.instant());

    assertThat(Evaluations.files(folder.resolve("all")))
        .isEqualTo(Evaluations.files(folder.resolve("whole")));
  }

  @Test
  void into_oneShardMissing_namesIt() throws IOException {
    List<Path> some = List.of(shard(1), shard(3));

    assertThatThrownBy(
            () -> new ShardMerge(some).into(folder.resolve("all"), Evaluations.CLOCK.instant()))
        .isInstanceOf(IOException.class)
        .hasMessage("shard 2/3 is missing; name its folder, or evaluate it by --shard");
    assertThat(folder.resolve("all")).doesNotExist();
  }

  @Test
  void into_oneShardNotWhole_namesIt() throws IOException {
    List<Path> all = List.of(shard(1), shard(2), shard(3));
    Files.delete(all.get(1).resolve("summary.json"));

    assertThatThrownBy(
            () -> new ShardMerge(all).into(folder.resolve("all"), Evaluations.CLOCK.instant()))
        .hasMessageContaining("shard 2/3 in")
        .hasMessageContaining("is not whole; continue it by --resume");
  }
}
