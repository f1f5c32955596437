package io.troupe.store.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.store.file.JournalException;
import io.troupe.store.segment.JournalPosition;
import io.troupe.store.segment.JournalRecord;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The end of the machine: pages that no fsync has seen may be zero, in any order. */
final class PowerLossTest {
  private static final int PAGE = 512;

  @TempDir(factory = MemoryDisk.class)
  private Path folder;

  private Path live() {
    return folder.resolve("live");
  }

  private Path left() {
    return folder.resolve("left");
  }

  /** Loses power: the writer has not closed the journal. */
  private void loosePower() throws IOException {
    Files.createDirectory(left());
    try (DirectoryStream<Path> files = Files.newDirectoryStream(live())) {
      for (Path file : files) {
        Files.copy(file, left().resolve(file.getFileName()));
      }
    }
  }

  private static void zero(Path file, long from, long bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.allocate((int) Math.min(bytes, channel.size() - from)), from);
    }
  }

  private static void assertWhole(List<JournalRecord> records) {
    for (int i = 0; i < records.size(); i++) {
      assertThat(records.get(i).sequence()).isEqualTo(i + 1);
      assertThat(records.get(i).payload()).isEqualTo(Journals.payload(i + 1));
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void open_unsyncedPagesZeroed_keepsEverySyncedRecordAndGoesOn(long seed) throws IOException {
    Random random = new Random(seed);
    JournalSettings settings = new JournalSettings(20_000, 16);
    JournalPosition synced;
    try (Journal journal = Journal.open(live(), settings)) {
      Journals.fill(journal, 1 + random.nextInt(200), random);
      journal.sync();
      synced = journal.position();
      Journals.fill(journal, 20 + random.nextInt(60), random);
      loosePower();
    }
    Path last = Journals.segments(left()).getLast();
    long first =
        last.toString().contains("%06d".formatted(synced.segment())) ? synced.offset() : 36;
    for (int hole = 0; hole < 3; hole++) {
      long offset = first + random.nextLong(Math.max(1, Files.size(last) - first));
      zero(last, offset, PAGE);
    }
    byte[] holed = Files.readAllBytes(last);

    long kept;
    try (Journal journal = Journal.open(left(), settings)) {
      kept = journal.recovery().records();
      assertThat(kept).isGreaterThanOrEqualTo(synced.sequence());
      if (journal.recovery().copy().isPresent()) {
        byte[] rest = Files.readAllBytes(journal.recovery().copy().get());
        int from = holed.length - rest.length;
        assertThat(rest).isEqualTo(java.util.Arrays.copyOfRange(holed, from, holed.length));
        assertThat(Files.size(last)).isEqualTo(from);
      }
      Journals.fill(journal, 10, random);
    }
    List<JournalRecord> records = Journals.read(left());
    assertThat(records).hasSize((int) kept + 10);
    assertWhole(records);
  }

  @Test
  void open_holeInUnsyncedRecords_isToldWithWhereTheRestIsKept() throws IOException {
    Path file = left().resolve("000001.journal");
    try (Journal journal = Journal.open(live(), JournalSettings.defaults())) {
      journal.append(List.of("synced".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
      journal.sync();
      journal.append(List.of(new byte[100], new byte[100]));
      loosePower();
    }
    zero(file, 70, 50);
    try (JournalReader reader = JournalReader.open(left())) {
      assertThat(Journals.drain(reader)).hasSize(1);
      assertThat(reader.tail())
          .isEqualTo(new JournalTail.Torn(file, 70, 256, "no record starts here", true));
    }
    try (Journal journal = Journal.open(left(), JournalSettings.defaults())) {
      assertThat(journal.recovery().records()).isEqualTo(1);
      assertThat(journal.recovery().bytesDropped()).isEqualTo(256);
      assertThat(journal.recovery().copy()).contains(left().resolve("torn-000001.journal-at-70"));
    }
    assertThat(left().resolve("torn-000001.journal-at-70")).hasSize(256);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void open_syncedPageZeroed_isRefusedAndNothingIsChanged(long seed) throws IOException {
    Random random = new Random(seed);
    try (Journal journal = Journal.open(live(), JournalSettings.defaults())) {
      Journals.fill(journal, 50, random);
      journal.sync();
      Journals.fill(journal, random.nextInt(50), random);
      loosePower();
    }
    Path file = left().resolve("000001.journal");
    long synced = SyncedPosition.bytesOf(left(), 1, 1);
    zero(file, 36 + random.nextLong(synced - 36 - 28), PAGE);
    byte[] before = Files.readAllBytes(file);
    assertThatThrownBy(() -> Journal.open(left(), JournalSettings.defaults()))
        .isInstanceOf(JournalException.Corrupt.class)
        .hasMessageContaining("Nothing was changed");
    assertThat(file).hasBinaryContent(before);
  }
}
