package io.troupe.store.journal;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.store.file.JournalException;
import io.troupe.store.segment.JournalRecord;
import io.troupe.store.segment.SegmentHeader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class JournalPropertyTest {
  @TempDir(factory = MemoryDisk.class)
  private Path folder;

  /** The records that end at or before byte {@code cut} of the last segment. */
  private static int intactBefore(Path last, long cut, List<JournalRecord> all) throws IOException {
    long first =
        SegmentHeader.read(last) instanceof SegmentHeader.Read.Whole(SegmentHeader header)
            ? header.firstSequence()
            : 0;
    int intact = (int) first - 1;
    long offset = SegmentHeader.BYTES;
    while (intact < all.size() && offset + RecordFrame.bytes(all.get(intact).payload()) <= cut) {
      offset += RecordFrame.bytes(all.get(intact).payload());
      intact++;
    }
    return intact;
  }

  private static void assertPrefix(List<JournalRecord> records) {
    for (int i = 0; i < records.size(); i++) {
      assertThat(records.get(i).sequence()).isEqualTo(i + 1);
      assertThat(records.get(i).payload()).isEqualTo(Journals.payload(i + 1));
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void open_cutAtRandomByte_keepsExactlyTheIntactPrefix(long seed) throws IOException {
    Random random = new Random(seed);
    long written = 0;
    for (int round = 0; round < 3; round++) {
      try (Journal journal = Journal.open(folder, Journals.SMALL)) {
        assertThat(journal.recovery().records()).isEqualTo(written);
        Journals.fill(journal, 1 + random.nextInt(30), random);
      }
      List<JournalRecord> all = Journals.read(folder);
      assertPrefix(all);
      Path last = Journals.segments(folder).getLast();
      long cut = random.nextLong(Files.size(last) + 1);
      int intact = intactBefore(last, cut, all);
      Journals.truncate(last, cut);
      List<JournalRecord> left = Journals.read(folder);
      assertThat(left).hasSize(intact);
      assertPrefix(left);
      written = intact;
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void next_randomByteFlipped_neverReturnsAWrongPayloadNorHidesARecord(long seed)
      throws IOException {
    Random random = new Random(seed);
    int records = 5 + random.nextInt(40);
    try (Journal journal = Journal.open(folder, Journals.SMALL)) {
      Journals.fill(journal, records, random);
    }
    List<Path> files = Journals.segments(folder);
    Path file = files.get(random.nextInt(files.size()));
    int offset = random.nextInt((int) Files.size(file));
    Journals.flip(file, offset, 1 << random.nextInt(8));
    try (JournalReader reader = JournalReader.open(folder)) {
      List<JournalRecord> left = Journals.drain(reader);
      // Only the last record may be taken for a torn tail, and then the reader says so.
      assertThat(left).hasSize(records - 1);
      assertThat(reader.tail()).isInstanceOf(JournalTail.Torn.class);
      assertPrefix(left);
    } catch (JournalException.Corrupt noticed) {
      assertThat(noticed).hasMessageContaining(file.getFileName().toString());
    }
  }

  /** With a lock that does not work, a writer that was taken over continues as long as it can. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void next_fencedWriterGoesOn_returnsTheRightfulWritersRecords(long seed) throws IOException {
    Random random = new Random(seed);
    try (Journal journal = Journal.open(folder, Journals.SMALL)) {
      Journals.fill(journal, random.nextInt(20) + 1, random);
    }
    Path old = Journals.segments(folder).getLast();
    long fencedSequence = Journals.read(folder).size();
    int intruders = 0;
    long total;
    try (Journal journal = Journal.open(folder, Journals.SMALL)) {
      for (int i = 0; i < 20; i++) {
        if (random.nextBoolean()) {
          Journals.intrude(old, ++fencedSequence, 1, new byte[] {42});
          intruders++;
        } else {
          Journals.fill(journal, 1, random);
        }
      }
      total = journal.lastSequence();
    }
    try (JournalReader reader = JournalReader.open(folder)) {
      List<JournalRecord> all = Journals.drain(reader);
      assertThat(all).hasSize((int) total);
      assertPrefix(all);
      assertThat(reader.fenced()).isEqualTo(intruders);
    }
  }
}
