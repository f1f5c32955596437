package io.troupe.ranks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.net.HostPort;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.StateFiles;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.StateSink;
import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.SafetensorsFile.Declared;
import io.troupe.engine.safetensors.TensorRangeWriter;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Versions in bfloat16 of ranks whose hosts share no folder with the coordinator's, over
 * connections.
 */
final class RankVersionsTest {
  private static final RunSecret SECRET = RunSecret.random();
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final long PIECE = 400_000;

  @TempDir private Path folder;

  private final List<String> notes = new CopyOnWriteArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final Arena arena = Arena.ofShared();
  private final List<HalvesRank> trained = new ArrayList<>();
  private final List<RankWorker> workers = new ArrayList<>();
  private RankRegistry registry;
  private RemoteRanks ranks;
  private int folders;

  /** A rank of weights in bfloat16, which it writes in two ranges. */
  private static final class HalvesRank extends IdleRank {
    private final MemorySegment piece;
    private final long from;
    private Runnable between = () -> {};

    HalvesRank(MemorySegment piece, long from) {
      this.piece = piece;
      this.from = from;
    }

    @Override
    public void write(List<StatePart> parts, StateSink to) throws IOException {
      assertThat(parts).containsExactly(StatePart.BFLOAT16_WEIGHTS);
      to.write("w", from, piece.asSlice(0, PIECE / 2));
      between.run();
      to.write("w", from + PIECE / 2, piece.asSlice(PIECE / 2));
    }
  }

  @BeforeEach
  void begin() throws Exception {
    registry =
        RankRegistry.open(2, ConnectionFactory.onLoopback(), new HostPort("127.0.0.1", 0), SECRET);
    ranks =
        new RemoteRanks(
            registry,
            new RemoteRanks.Patience(LONG, LONG, LONG),
            folder.resolve("states"),
            notes::add);
    for (int rank = 0; rank < 2; rank++) {
      registry.joined("node" + rank);
      MemorySegment piece = arena.allocate(PIECE, Long.BYTES);
      for (long at = 0; at < PIECE; at += Short.BYTES) {
        piece.set(ValueLayout.JAVA_SHORT, at, (short) (at * 31 + rank));
      }
      trained.add(new HalvesRank(piece, rank * PIECE));
      workers.add(start(rank));
    }
    assertThat(registry.await(LONG)).hasSize(2);
    ranks.begin(Files.createDirectory(folder.resolve("state")));
  }

  private RankWorker start(int number) throws IOException {
    RankWorker worker =
        RankWorker.report(
                registry.address(),
                new RankWorker.RankIdentity(
                    number,
                    "node" + number,
                    "t" + number,
                    ConnectionFactory.onLoopback(),
                    "127.0.0.1",
                    SECRET,
                    LONG,
                    0,
                    folder.resolve("rank" + number)),
                trained.get(number),
                false)
            .onAnotherHost();
    threads.add(
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try (worker) {
                    worker.work();
                  } catch (IOException over) {
                    // Its line is closed.
                  }
                }));
    return worker;
  }

  @AfterEach
  void end() throws Exception {
    ranks.close();
    for (RankWorker worker : workers) {
      worker.disconnect();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    registry.close();
    arena.close();
  }

  private StateFiles newFiles() throws IOException {
    Path own = Files.createDirectory(folder.resolve("version-" + folders++));
    SafetensorsFile.create(
        own.resolve("x"), List.of(new Declared("w", DType.BF16, List.of(PIECE))), Map.of());
    return new StateFiles(own, List.of("x"), List.of(StatePart.BFLOAT16_WEIGHTS), false);
  }

  /** One unit in a hundred, by one. */
  private void train() {
    for (HalvesRank rank : trained) {
      for (long at = 0; at < PIECE; at += 200) {
        short unit = rank.piece.get(ValueLayout.JAVA_SHORT, at);
        rank.piece.set(ValueLayout.JAVA_SHORT, at, (short) (unit + 1));
      }
    }
  }

  /** Writes a version, which the files have then, and returns the bytes over the link. */
  private long written(StateFiles files) throws IOException, RankLostException {
    long before = ranks.linkBytes();
    ranks.write(files);
    byte[] expected = new byte[Math.toIntExact(2 * PIECE)];
    for (HalvesRank rank : trained) {
      MemorySegment.copy(
          rank.piece, 0, MemorySegment.ofArray(expected), rank.from, rank.piece.byteSize());
    }
    ByteBuffer found = ByteBuffer.allocate(expected.length);
    try (TensorRangeWriter reader = TensorRangeWriter.open(files.folder(), files.names())) {
      reader.read("w", 0, found);
    }
    assertThat(found.array()).isEqualTo(expected);
    return ranks.linkBytes() - before;
  }

  @Test
  void write_versionAfterVersion_sendsTheFirstWholeAndThenWhatChanged() throws Exception {
    StateFiles files = newFiles();
    assertThat(written(files)).isBetween(2 * PIECE, 2 * PIECE + 3_000);
    train();
    assertThat(written(files)).isLessThan(2 * PIECE / 50);
    assertThat(written(files)).as("nothing changed").isLessThan(3_000);
    assertThat(written(newFiles())).as("other files").isGreaterThan(2 * PIECE);
    assertThat(notes).noneMatch(note -> note.contains("came again whole"));
  }

  @Test
  void write_filesThatWereDamaged_areMadeRightAloud() throws Exception {
    StateFiles files = newFiles();
    assertThat(written(files)).isGreaterThan(2 * PIECE);
    try (TensorRangeWriter writer = TensorRangeWriter.open(files.folder(), files.names())) {
      writer.write("w", PIECE + 8, MemorySegment.ofArray(new byte[] {1, 2, 3, 4}));
    }
    train();
    assertThat(written(files)).as("the piece of rank 1").isBetween(PIECE, PIECE + PIECE / 10);
    assertThat(notes)
        .containsOnlyOnce(
            "1 ranges of new weights, sent as changes, were not what the ranks have, and came again"
                + " whole");
    train();
    assertThat(written(files)).isLessThan(2 * PIECE / 50);
  }

  @Test
  void write_lineThatBreaksBetweenChanges_isALossAndTheNextGroupSendsAll() throws Exception {
    StateFiles files = newFiles();
    assertThat(written(files)).isGreaterThan(2 * PIECE);
    train();
    RankWorker broken = workers.get(1);
    trained.get(1).between =
        () -> {
          try {
            broken.disconnect();
          } catch (IOException failure) {
            throw new UncheckedIOException(failure);
          }
        };
    assertThatThrownBy(() -> ranks.write(files)).hasMessageContaining("trainer rank 1 is lost");
    trained.get(1).between = () -> {};
    threads.get(1).join();
    workers.set(1, start(1));
    ranks.begin(folder.resolve("state"));
    assertThat(written(newFiles())).isGreaterThan(2 * PIECE);
    train();
    assertThat(written(files)).as("files of the group before").isGreaterThan(2 * PIECE);
  }
}
