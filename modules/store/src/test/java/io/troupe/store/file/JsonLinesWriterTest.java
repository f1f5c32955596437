package io.troupe.store.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.trace.LineBacklog;
import io.troupe.core.trace.LineBacklog.Kind;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JsonLinesWriterTest {
  private static final LineBacklog.Limits LIMITS = new LineBacklog.Limits(1_000, 64 << 10);
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final FaultyDisk disk = FaultyDisk.unlimited();
  private final List<String> reports = new CopyOnWriteArrayList<>();
  private final List<LineBacklog> changes = new CopyOnWriteArrayList<>();
  private final Path file;
  private final JsonLinesFile lines;
  private final JsonLinesWriter writer;

  JsonLinesWriterTest(@TempDir Path folder) throws IOException {
    this.file = folder.resolve("rollouts.jsonl");
    this.lines = JsonLinesFile.open(file, Duration.ZERO, reports::add, System::nanoTime, disk);
    this.writer = JsonLinesWriter.start(List.of(lines), LIMITS);
    writer.watch(changes::add);
  }

  @Test
  void write_linesThenClose_areAllThereInOrder() throws Exception {
    IntStream.range(0, 100).forEach(i -> writer.write(lines, Kind.EVENT, i));
    assertThat(writer.close(PATIENCE)).isZero();
    assertThat(Files.readAllLines(file))
        .isEqualTo(IntStream.range(0, 100).mapToObj(Integer::toString).toList());
    assertThat(writer.write(lines, Kind.EVENT, 100)).isFalse();
    assertThat(changes).isEmpty();
  }

  @Test
  void write_diskStallsThenHeals_refusesAndCountsInBoundedMemoryAndGoesOn() throws Exception {
    disk.hold();
    String text = "x".repeat(1_000);
    List<Integer> accepted = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      if (writer.write(lines, Kind.TEXT, Map.of("n", i, "text", text))) {
        accepted.add(i);
      }
      assertThat(writer.backlog().bytes()).isLessThanOrEqualTo(LIMITS.bytes());
    }
    Await.until(disk::writerWaits);
    assertThat(accepted).hasSizeBetween(40, 48).first().isEqualTo(0);
    assertThat(writer.write(lines, Kind.EVENT, Map.of("n", -1))).isTrue();
    assertThat(writer.backlog().refused()).isEqualTo(500 - accepted.size());
    assertThat(changes).hasSize(500 - accepted.size()).allMatch(LineBacklog::full);

    disk.release();
    Await.until(() -> writer.backlog().lines() == 0);
    assertThat(changes.getLast().full()).isFalse();
    assertThat(changes).hasSize(500 - accepted.size() + 1);
    assertThat(writer.write(lines, Kind.TEXT, Map.of("n", 500, "text", text))).isTrue();
    assertThat(writer.close(PATIENCE)).isZero();
    accepted.add(-1);
    accepted.add(500);
    assertThat(Files.readAllLines(file))
        .hasSameSizeAs(accepted)
        .last()
        .asString()
        .contains("\"n\":500");
    assertThat(reports).isEmpty();
  }

  @Test
  void close_diskThatStalls_endsAndSaysHowManyLinesAreMissing() {
    disk.hold();
    IntStream.range(0, 3).forEach(i -> writer.write(lines, Kind.EVENT, i));
    Await.until(disk::writerWaits);
    assertThat(writer.close(Duration.ofMillis(1))).isEqualTo(3);
    disk.release();
  }

  @Test
  void write_objectThatIsNoJson_isCountedAndStopsNothing() throws Exception {
    assertThat(writer.write(lines, Kind.TEXT, new Object())).isTrue();
    assertThat(writer.write(lines, Kind.TEXT, 1)).isTrue();
    Await.until(() -> lines.lost() == 1);
    assertThat(writer.close(PATIENCE)).isZero();
    assertThat(file).hasContent("1\n");
    assertThat(reports).singleElement().asString().contains("as JSON to " + file);
  }
}
