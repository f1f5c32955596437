package io.troupe.store.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JsonLinesFileTest {
  record Point(long step, double value) {}

  @TempDir private Path folder;

  private final List<String> reports = new ArrayList<>();

  private Path file() {
    return folder.resolve("trace.jsonl");
  }

  private JsonLinesFile open() throws IOException {
    return JsonLinesFile.open(file(), Duration.ZERO, reports::add);
  }

  @Test
  void write_records_areOneLineEachAtOnce() throws IOException {
    try (JsonLinesFile lines = open()) {
      lines.write(new Point(1, 0.5));
      lines.write(Map.of("text", "two\nlines"));
      assertThat(file()).hasContent("{\"step\":1,\"value\":0.5}\n{\"text\":\"two\\nlines\"}\n");
      assertThat(lines.written()).isEqualTo(2);
      assertThat(lines.lost()).isZero();
    }
    assertThat(reports).isEmpty();
  }

  @Test
  void write_notFinite_becomesNull() throws IOException {
    try (JsonLinesFile lines = open()) {
      lines.write(new Point(1, Double.NaN));
      lines.write(List.of(Double.POSITIVE_INFINITY, 1.5f, Float.NaN));
    }
    assertThat(file()).hasContent("{\"step\":1,\"value\":null}\n[null,1.5,null]\n");
  }

  @Test
  void open_lastLineTorn_cutsItOff() throws IOException {
    Files.writeString(file(), "{\"a\":1}\n{\"b\":");
    try (JsonLinesFile lines = open()) {
      lines.write(Map.of("c", 3));
    }
    assertThat(file()).hasContent("{\"a\":1}\n{\"c\":3}\n");
  }

  @Test
  void open_lastLineWholeButUnended_endsIt() throws IOException {
    Files.writeString(file(), "{\"a\":1}\n{\"b\":2}");
    try (JsonLinesFile lines = open()) {
      lines.write(Map.of("c", 3));
    }
    assertThat(file()).hasContent("{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n");
  }

  @Test
  void open_onlyATornLine_startsEmpty() throws IOException {
    Files.writeString(file(), "{\"" + "x".repeat(200_000));
    try (JsonLinesFile lines = open()) {
      lines.write(Map.of("c", 3));
    }
    assertThat(file()).hasContent("{\"c\":3}\n");
  }

  @Test
  void write_interval_waitsForItOrForFlush() throws IOException {
    AtomicLong now = new AtomicLong();
    try (JsonLinesFile lines =
        JsonLinesFile.open(
            file(), Duration.ofNanos(10), reports::add, now::get, FaultyDisk.unlimited())) {
      lines.write(1);
      now.set(9);
      lines.write(2);
      assertThat(file()).isEmptyFile();
      now.set(10);
      lines.write(3);
      assertThat(file()).hasContent("1\n2\n3\n");
      lines.write(4);
      lines.flush();
      assertThat(file()).hasContent("1\n2\n3\n4\n");
      lines.write(5);
    }
    assertThat(file()).hasContent("1\n2\n3\n4\n5\n");
  }

  @Test
  void write_diskFullForAWhile_reportsBeginAndEndCountsAndLeavesNoPartialLine() throws IOException {
    FaultyDisk disk = new FaultyDisk(10);
    AtomicLong now = new AtomicLong();
    try (JsonLinesFile lines =
        JsonLinesFile.open(file(), Duration.ZERO, reports::add, now::get, disk)) {
      lines.write(1234);
      lines.write("too long for what is left");
      lines.write("and again");
      assertThat(lines.lost()).isEqualTo(2);
      assertThat(lines.written()).isEqualTo(1);
      assertThat(reports).hasSize(1);
      assertThat(reports.getFirst())
          .contains("cannot write lines: ", "No space left on device", "free some space there")
          .endsWith("; training continues, and the file is tried again")
          .doesNotContain("resume");
      disk.free(7);
      lines.write(56);
      lines.write("not told within a minute");
      now.addAndGet(Duration.ofMinutes(1).toNanos());
      lines.write("told");
      disk.free(3);
      lines.write(78);
      lines.write("told at the end");
    }
    assertThat(file()).hasContent("1234\n56\n78\n");
    assertThat(reports).hasSize(5);
    assertThat(reports.get(1))
        .isEqualTo(file() + " is written again; it lacks 2 lines that could not be written");
    assertThat(reports.get(2)).startsWith("cannot write lines: ");
    assertThat(reports.get(3))
        .isEqualTo(file() + " is written again; it lacks 2 lines that could not be written");
    assertThat(reports.get(4)).isEqualTo(file() + " lacks 1 lines that could not be written");
  }

  @Test
  void write_notJson_reportsAndGoesOn() throws IOException {
    try (JsonLinesFile lines = open()) {
      lines.write(new Object());
      lines.write(1);
      assertThat(lines.lost()).isEqualTo(1);
    }
    assertThat(file()).hasContent("1\n");
    assertThat(reports.getFirst()).contains("cannot write a Object as JSON to " + file());
  }

  @Test
  void cut_laterNumbers_endsBehindTheLastThatStays() throws IOException {
    String text = "{\"n\":0}\n{\"n\":1}\n{\"n\":7}\n{\"n\":8}";
    Files.writeString(file(), text);
    assertThat(JsonLinesFile.cut(file(), "n", 9)).hasValue(8);
    assertThat(file()).hasContent(text + "\n");
    assertThat(JsonLinesFile.cut(file(), "n", 6)).hasValue(1);
    assertThat(file()).hasContent("{\"n\":0}\n{\"n\":1}\n");
    assertThat(JsonLinesFile.cut(file(), "n", -1)).isEmpty();
    assertThat(file()).isEmptyFile();
  }

  @Test
  void cut_tornLineAndDamage_countForNothing() throws IOException {
    Files.writeString(file(), "{\"n\":0}\n\u0000\u0000\n{\"n\":1}\n\u0000\n{\"n\":");
    assertThat(JsonLinesFile.cut(file(), "n", 1)).hasValue(1);
    assertThat(Files.readString(file())).isEqualTo("{\"n\":0}\n\u0000\u0000\n{\"n\":1}\n");
  }

  @Test
  void cut_noFile_isNothing() throws IOException {
    assertThat(JsonLinesFile.cut(file(), "n", 1)).isEmpty();
    assertThat(file()).doesNotExist();
  }

  @Test
  void open_folderMissing_saysWhere() {
    assertThatThrownBy(
            () -> JsonLinesFile.open(folder.resolve("none/x.jsonl"), Duration.ZERO, reports::add))
        .isInstanceOf(DiskFailureException.class)
        .hasMessageContaining("cannot open for appending lines: " + folder.resolve("none/x.jsonl"));
  }

  @Test
  void write_boundedAndTheNextFileCannotBeMadeAtFirst_losesNoLineAndRotatesLater()
      throws IOException {
    AtomicInteger opened = new AtomicInteger();
    ChannelOpener scarce =
        (path, options) -> {
          if (opened.incrementAndGet() == 2) {
            throw new IOException("Too many open files");
          }
          return FileChannel.open(path, options);
        };
    try (JsonLinesFile lines =
        JsonLinesFile.open(file(), 8, Duration.ZERO, reports::add, System::nanoTime, scarce)) {
      lines.write(111);
      lines.write(222);
      lines.write(3);
    }
    assertThat(JsonLinesFile.previous(file())).hasContent("111\n222\n");
    assertThat(file()).hasContent("3\n");
    assertThat(reports).singleElement().asString().contains("cannot begin the next file");
  }

  @Test
  void write_bounded_keepsTheNewestLinesWithinTheBoundAndLosesNoneOfThem() throws IOException {
    int lines = 1_000;
    try (JsonLinesFile log = JsonLinesFile.open(file(), 2_000, Duration.ZERO, reports::add)) {
      for (int i = 0; i < lines; i++) {
        log.write(Map.of("n", i));
      }
      assertThat(log.lost()).isZero();
    }
    Path previous = JsonLinesFile.previous(file());
    assertThat(previous).hasFileName("trace.1.jsonl");
    assertThat(Files.size(previous) + Files.size(file())).isBetween(1_000L, 2_020L);
    List<String> kept = new ArrayList<>(Files.readAllLines(previous));
    kept.addAll(Files.readAllLines(file()));
    int first = lines - kept.size();
    for (int i = 0; i < kept.size(); i++) {
      assertThat(kept.get(i)).isEqualTo("{\"n\":%d}".formatted(first + i));
    }
    assertThat(reports).isEmpty();
    try (JsonLinesFile log = JsonLinesFile.open(file(), 2_000, Duration.ZERO, reports::add)) {
      log.write(Map.of("n", lines));
    }
    assertThat(Files.readString(file())).endsWith("{\"n\":1000}\n");
  }
}
