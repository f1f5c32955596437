package io.troupe.store.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.store.file.DiskFailureException;
import io.troupe.store.file.FaultyDisk;
import io.troupe.store.file.JournalException;
import io.troupe.store.file.WriterFence;
import io.troupe.store.segment.JournalRecord;
import io.troupe.store.segment.Segment;
import io.troupe.store.segment.SegmentHeader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JournalTest {
  @TempDir(factory = MemoryDisk.class)
  private Path run;

  private Path folder() {
    return run.resolve("journal");
  }

  private static List<byte[]> text(String... texts) {
    return java.util.Arrays.stream(texts).map(t -> t.getBytes(StandardCharsets.UTF_8)).toList();
  }

  private static List<String> texts(List<JournalRecord> records) {
    return records.stream().map(r -> new String(r.payload(), StandardCharsets.UTF_8)).toList();
  }

  @Test
  void append_severalLists_numbersRecordsFromOne() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      assertThat(journal.append(text("a", "b"))).isEqualTo(2);
      assertThat(journal.append(text(""))).isEqualTo(3);
    }
    List<JournalRecord> records = Journals.read(folder());
    assertThat(texts(records)).containsExactly("a", "b", "");
    assertThat(records).extracting(JournalRecord::sequence).containsExactly(1L, 2L, 3L);
    assertThat(records).extracting(JournalRecord::epoch).containsOnly(1L);
  }

  @Test
  void open_afterOrderlyClose_continuesWithGreaterEpoch() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("a"));
    }
    try (Journal idle = Journal.open(folder(), JournalSettings.defaults())) {
      assertThat(idle.recovery()).isEqualTo(new JournalRecovery(2, 1, new JournalTail.Whole()));
    }
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      assertThat(journal.recovery().epoch()).isEqualTo(3);
      journal.append(text("b"));
    }
    assertThat(Journals.read(folder())).extracting(JournalRecord::epoch).containsExactly(1L, 3L);
  }

  @Test
  void append_pastSegmentSize_rollsAndReadsOn() throws IOException {
    try (Journal journal = Journal.open(folder(), Journals.SMALL)) {
      Journals.fill(journal, 100, new Random(1));
    }
    assertThat(Journals.segments(folder())).hasSizeGreaterThan(10);
    assertThat(Journals.read(folder())).hasSize(100);
  }

  @Test
  void append_frameLayout_isAsDocumented() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("hello"));
    }
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(folder().resolve("000001.journal")));
    assertThat(bytes.remaining()).isEqualTo(36 + 28 + 5);
    assertThat(new String(bytes.array(), 0, 4, StandardCharsets.US_ASCII)).isEqualTo("TRJS");
    assertThat(bytes.getInt(4)).isEqualTo(1);
    assertThat(bytes.getLong(8)).isEqualTo(1);
    assertThat(bytes.getLong(16)).isEqualTo(1);
    assertThat(new String(bytes.array(), 36, 4, StandardCharsets.US_ASCII)).isEqualTo("TRJF");
    assertThat(bytes.getInt(40)).isEqualTo(5);
    assertThat(bytes.getLong(44)).isEqualTo(1);
    assertThat(bytes.getLong(52)).isEqualTo(1);
    assertThat(new String(bytes.array(), 64, 5, StandardCharsets.US_ASCII)).isEqualTo("hello");
  }

  @Test
  void open_tornTail_cutsItOffAndSaysSo() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("whole", "torn"));
    }
    Path file = folder().resolve("000001.journal");
    Journals.truncate(file, Files.size(file) - 1);
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      assertThat(journal.recovery().records()).isEqualTo(1);
      assertThat(journal.recovery().bytesDropped()).isEqualTo(28 + 3);
      assertThat(journal.recovery().reason()).isEqualTo("a record of 4 bytes is cut off");
      journal.append(text("next"));
    }
    assertThat(texts(Journals.read(folder()))).containsExactly("whole", "next");
    assertThat(Files.size(file)).isEqualTo(36 + 28 + 5);
  }

  @Test
  void open_damageBeforeIntactRecord_namesFileOffsetAndWayOut() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("one", "two", "three"));
    }
    Path file = folder().resolve("000001.journal");
    int second = 36 + 28 + 3;
    Journals.flip(file, second + 28, 1);
    byte[] before = Files.readAllBytes(file);
    assertThatThrownBy(() -> Journal.open(folder(), JournalSettings.defaults()))
        .isInstanceOf(JournalException.Corrupt.class)
        .hasMessageContaining(file + " at byte 67, after record 1")
        .hasMessageContaining("a record of 3 bytes has a wrong checksum")
        .hasMessageContaining("an intact record follows at byte 98")
        .hasMessageContaining("truncate -s 67 000001.journal");
    assertThat(Files.readAllBytes(file)).isEqualTo(before);

    Journals.truncate(file, 67);
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      assertThat(journal.recovery().records()).isEqualTo(1);
    }
  }

  @Test
  void open_damagedLengthBeforeIntactRecord_isCorruptNotTorn() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("one", "two"));
    }
    Journals.flip(folder().resolve("000001.journal"), 36 + 5, 0x40);
    assertThatThrownBy(() -> Journal.open(folder(), JournalSettings.defaults()))
        .isInstanceOf(JournalException.Corrupt.class)
        .hasMessageContaining("is cut off, but an intact record follows");
  }

  @Test
  void next_segmentMissing_isCorrupt() throws IOException {
    try (Journal journal = Journal.open(folder(), Journals.SMALL)) {
      Journals.fill(journal, 60, new Random(1));
    }
    Files.delete(Journals.segments(folder()).get(2));
    assertThatThrownBy(() -> Journals.read(folder()))
        .isInstanceOf(JournalException.Corrupt.class)
        .hasMessageContaining("but the next segment begins with record");
  }

  @Test
  void next_firstSegmentMissing_isCorrupt() throws IOException {
    try (Journal journal = Journal.open(folder(), Journals.SMALL)) {
      Journals.fill(journal, 60, new Random(1));
    }
    Files.delete(Journals.segments(folder()).getFirst());
    assertThatThrownBy(() -> Journals.read(folder()))
        .isInstanceOf(JournalException.Corrupt.class)
        .hasMessageContaining("an earlier segment file is missing");
  }

  @Test
  void next_payloadHoldsAFrame_tornTailIsStillTorn() throws IOException {
    byte[] frame;
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("inner"));
      frame = Files.readAllBytes(folder().resolve("000001.journal"));
    }
    Path other = run.resolve("other");
    try (Journal journal = Journal.open(other, JournalSettings.defaults())) {
      journal.append(List.of(frame));
    }
    Path file = other.resolve("000001.journal");
    Files.delete(other.resolve("synced.json"));
    Journals.flip(file, 36 + 25, 1);
    assertThat(Journals.read(other)).isEmpty();
  }

  @Test
  void open_lockedInThisProcess_namesRunAndHolder() throws IOException {
    try (Journal held = Journal.open(folder(), JournalSettings.defaults())) {
      assertThat(held.lastSequence()).isZero();
      assertThatThrownBy(() -> Journal.open(folder(), JournalSettings.defaults()))
          .isInstanceOf(JournalException.Locked.class)
          .hasMessageContaining("run folder " + run.toRealPath() + " is in use")
          .hasMessageContaining("process " + ProcessHandle.current().pid() + " on host ")
          .hasMessageContaining("then try again");
    }
    try (Journal free = Journal.open(folder(), JournalSettings.defaults())) {
      assertThat(free.recovery().epoch()).isEqualTo(2);
    }
  }

  @Test
  void next_recordsOfFencedWriter_areCountedNotReturned() throws IOException {
    try (Journal old = Journal.open(folder(), JournalSettings.defaults())) {
      old.append(text("a"));
    }
    Path first = folder().resolve("000001.journal");
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("b"));
      Journals.intrude(first, 2, 1, "intruder".getBytes(StandardCharsets.UTF_8));
      journal.append(text("c"));
      Journals.intrude(first, 3, 1, "intruder".getBytes(StandardCharsets.UTF_8));
    }
    try (JournalReader reader = JournalReader.open(folder())) {
      assertThat(texts(Journals.drain(reader))).containsExactly("a", "b", "c");
      assertThat(reader.fenced()).isEqualTo(2);
    }
  }

  @Test
  void next_segmentOfFencedWriter_isCountedNotReturned() throws IOException {
    try (Journal old = Journal.open(folder(), JournalSettings.defaults())) {
      old.append(text("a"));
    }
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      SegmentWriter.create(
              Segment.of(folder(), 3), new SegmentHeader(2, 1, 7), FaultyDisk.unlimited())
          .close();
      Journals.intrude(folder().resolve("000003.journal"), 2, 1, new byte[] {1});
      journal.append(text("b"));
    }
    try (JournalReader reader = JournalReader.open(folder())) {
      assertThat(texts(Journals.drain(reader))).containsExactly("a", "b");
      assertThat(reader.fenced()).isEqualTo(1);
    }
  }

  @Test
  void fence_afterTakeover_refuses() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("a"));
      WriterFence fence = journal.fence();
      fence.check();
      SegmentWriter.create(
              Segment.of(folder(), 2), new SegmentHeader(2, 2, 7), FaultyDisk.unlimited())
          .close();
      assertThatThrownBy(fence::check)
          .isInstanceOf(JournalException.Fenced.class)
          .hasMessageContaining("belongs to another writer now (epoch 2, this one has 1)");
    }
  }

  @Test
  void append_afterTakeover_isFencedAndWritesNothing() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("a"));
      SegmentWriter.create(
              Segment.of(folder(), 2), new SegmentHeader(2, 2, 7), FaultyDisk.unlimited())
          .close();
      long size = Files.size(folder().resolve("000001.journal"));
      assertThatThrownBy(() -> journal.append(text("b")))
          .isInstanceOf(JournalException.Fenced.class)
          .hasMessageContaining("belongs to another writer now (epoch 2, this one has 1)");
      assertThat(Files.size(folder().resolve("000001.journal"))).isEqualTo(size);
      assertThatThrownBy(() -> journal.append(text("b")))
          .isInstanceOf(JournalException.Unusable.class);
    }
  }

  @Test
  void append_diskFull_namesPathSpaceAndRemedyAndRefusesAfterwards() throws IOException {
    FaultyDisk disk = new FaultyDisk(36 + 28 + 1 + 40);
    try (Journal journal =
        Journal.open(folder(), JournalSettings.defaults(), Clock.systemUTC(), disk)) {
      journal.append(text("a"));
      assertThatThrownBy(() -> journal.append(text("x".repeat(100))))
          .isInstanceOf(DiskFailureException.class)
          .hasMessageContaining("cannot append to the journal: ")
          .hasMessageContaining("000001.journal: No space left on device; ")
          .hasMessageMatching(".* \\d+ bytes free at .*")
          .hasMessageContaining("free some space there, then resume the run");
      assertThatThrownBy(() -> journal.append(text("b")))
          .isInstanceOf(JournalException.Unusable.class)
          .hasMessageContaining("No space left on device");
    }
    assertThat(texts(Journals.read(folder()))).containsExactly("a");
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      assertThat(journal.recovery().bytesDropped()).isEqualTo(40);
    }
  }

  @Test
  void open_diskFull_leavesNoSegmentAndFreesTheLock() throws IOException {
    assertThatThrownBy(
            () ->
                Journal.open(
                    folder(), JournalSettings.defaults(), Clock.systemUTC(), new FaultyDisk(10)))
        .isInstanceOf(DiskFailureException.class)
        .hasMessageContaining("cannot open the journal for writing");
    assertThat(Journals.segments(folder())).isEmpty();
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      assertThat(journal.recovery().records()).isZero();
    }
  }

  @Test
  void append_noRecords_isRefused() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      assertThatThrownBy(() -> journal.append(List.of()))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(journal.append(text("still usable"))).isEqualTo(1);
    }
  }

  @Test
  void open_unfinishedSegmentHeader_isNoDamage() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("a"));
    }
    Files.write(folder().resolve("000002.journal"), new byte[20]);
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(text("b"));
    }
    assertThat(texts(Journals.read(folder()))).containsExactly("a", "b");
  }

  @Test
  void next_whileWriterAppendsAndRolls_seesEveryRecordOnce() throws Exception {
    int records = 3000;
    try (Journal journal = Journal.open(folder(), new JournalSettings(20_000, 16));
        JournalReader reader = JournalReader.open(folder())) {
      Thread writer = Thread.ofPlatform().start(() -> fillUnchecked(journal, records));
      long expected = 0;
      while (expected < records) {
        boolean more = writer.isAlive();
        var next = reader.next();
        if (next.isPresent()) {
          expected++;
          assertThat(next.get().sequence()).isEqualTo(expected);
          assertThat(next.get().payload()).isEqualTo(Journals.payload(expected));
        } else {
          assertThat(more).as("the writer ended after %d records", expected).isTrue();
        }
      }
      writer.join();
      assertThat(reader.next()).isEmpty();
      assertThat(reader.tail()).isEqualTo(new JournalTail.Whole());
    }
  }

  @Test
  void scanner_frameCompletedBehindItsBack_isNoDamage() throws IOException {
    try (Journal journal = Journal.open(folder(), JournalSettings.defaults())) {
      journal.append(List.of(Journals.payload(1), Journals.payload(2)));
    }
    Path file = Journals.segments(folder()).getFirst();
    byte[] whole = Files.readAllBytes(file);
    int inFirst = SegmentHeader.BYTES + RecordFrame.bytes(Journals.payload(1)) - 1;
    Files.write(file, Arrays.copyOf(whole, inFirst));
    Segment segment = Segment.after(folder(), 0).getFirst();
    if (!(SegmentHeader.read(file) instanceof SegmentHeader.Read.Whole(SegmentHeader header))) {
      throw new AssertionError("no header");
    }
    try (SegmentScanner scanner = new SegmentScanner(segment, header)) {
      assertThat(scanner.next()).isInstanceOf(SegmentScanner.Step.Damaged.class);
      assertThat(scanner.damagedOnDisk()).isTrue();

      Files.write(file, whole);

      assertThat(scanner.nextIntact()).isPresent();
      assertThat(scanner.damagedOnDisk()).isFalse();
      assertThat(scanner.next()).isInstanceOf(SegmentScanner.Step.Intact.class);
    }
  }

  private static void fillUnchecked(Journal journal, int records) {
    try {
      Journals.fill(journal, records, new Random(3));
    } catch (IOException failure) {
      throw new java.io.UncheckedIOException(failure);
    }
  }

  @Test
  void open_noJournalFolder_readerSaysWhatToGive() {
    assertThatThrownBy(() -> JournalReader.open(run.resolve("nothing")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no journal at " + run.resolve("nothing"));
  }
}
