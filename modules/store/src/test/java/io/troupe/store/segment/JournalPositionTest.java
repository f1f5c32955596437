package io.troupe.store.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.store.file.FaultyDisk;
import io.troupe.store.file.JournalException;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalReader;
import io.troupe.store.journal.JournalRecovery;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.journal.JournalTail;
import io.troupe.store.journal.JournalWriter;
import io.troupe.store.journal.Journals;
import io.troupe.store.journal.MemoryDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class JournalPositionTest {
  @TempDir(factory = MemoryDisk.class)
  private Path folder;

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void openAfter_anyAppend_returnsExactlyWhatCameLater(long seed) throws IOException {
    Random random = new Random(seed);
    List<JournalPosition> positions = new ArrayList<>();
    for (int process = 0; process < 3; process++) {
      try (Journal journal = Journal.open(folder, Journals.SMALL)) {
        for (int i = 0; i < 10; i++) {
          Journals.fill(journal, 1 + random.nextInt(5), random);
          positions.add(journal.position());
        }
      }
    }
    List<JournalRecord> all = Journals.read(folder);
    for (JournalPosition position : positions) {
      try (JournalReader reader = JournalReader.openAfter(folder, position)) {
        assertThat(reader.before()).isEqualTo(position.sequence());
        assertThat(Journals.drain(reader))
            .extracting(JournalRecord::sequence)
            .containsExactlyElementsOf(
                all.stream()
                    .map(JournalRecord::sequence)
                    .filter(sequence -> sequence > position.sequence())
                    .toList());
      }
    }
  }

  @Test
  void openAfter_earlierRecordsUnreadable_doesNotReadThem() throws IOException {
    JournalPosition position;
    try (Journal journal = Journal.open(folder, JournalSettings.defaults())) {
      Journals.fill(journal, 50, new Random(1));
      position = journal.position();
      Journals.fill(journal, 7, new Random(1));
    }
    Journals.flip(folder.resolve("000001.journal"), 36 + 28, 1);
    assertThatThrownBy(() -> Journals.read(folder)).isInstanceOf(JournalException.Corrupt.class);
    try (JournalReader reader = JournalReader.openAfter(folder, position)) {
      assertThat(Journals.drain(reader)).hasSize(7);
    }
  }

  @Test
  void open_olderSegmentsUnreadable_readsTheLastOneOnly() throws IOException {
    long records;
    try (Journal journal = Journal.open(folder, Journals.SMALL)) {
      Journals.fill(journal, 60, new Random(1));
      records = journal.lastSequence();
    }
    Journals.flip(Journals.segments(folder).getFirst(), 36 + 28, 1);
    try (Journal journal = Journal.open(folder, Journals.SMALL)) {
      assertThat(journal.recovery())
          .isEqualTo(new JournalRecovery(2, records, new JournalTail.Whole()));
    }
  }

  @Test
  void openAfter_positionOfAFencedWriter_isElsewhere() throws IOException {
    try (Journal journal = Journal.open(folder, JournalSettings.defaults())) {
      Journals.fill(journal, 3, new Random(1));
    }
    Path first = folder.resolve("000001.journal");
    try (Journal journal = Journal.open(folder, JournalSettings.defaults())) {
      Journals.intrude(first, 4, 1, new byte[] {1});
      JournalPosition fenced = new JournalPosition(1, Files.size(first), 4, 1);
      Journals.fill(journal, 3, new Random(1));
      assertThatThrownBy(() -> JournalReader.openAfter(folder, fenced))
          .isInstanceOf(JournalException.Elsewhere.class)
          .hasMessageContaining("has no record 4 of epoch 1 in segment 1");
    }
  }

  @Test
  void openAfter_recordsCutOff_isElsewhere() throws IOException {
    JournalPosition position;
    try (Journal journal = Journal.open(folder, JournalSettings.defaults())) {
      Journals.fill(journal, 3, new Random(1));
      position = journal.position();
    }
    Journals.truncate(folder.resolve("000001.journal"), 36);
    assertThatThrownBy(() -> JournalReader.openAfter(folder, position))
        .isInstanceOf(JournalException.Elsewhere.class);
  }

  @Test
  void append_severalInOneWrite_eachIsToldItsOwnPlace() throws Exception {
    FaultyDisk disk = FaultyDisk.unlimited();
    List<java.util.concurrent.CompletableFuture<JournalPosition>> stages = new ArrayList<>();
    try (JournalWriter writer =
        JournalWriter.start(
            Journal.open(folder, JournalSettings.defaults(), java.time.Clock.systemUTC(), disk),
            100)) {
      disk.hold();
      for (int i = 0; i < 20; i++) {
        stages.add(writer.append(Journals.payloads(1 + 2L * i, 2)).toCompletableFuture());
      }
      disk.release();
    }
    for (int i = 0; i < 20; i++) {
      JournalPosition position = stages.get(i).get();
      assertThat(position.sequence()).isEqualTo(2L * i + 2);
      try (JournalReader reader = JournalReader.openAfter(folder, position)) {
        assertThat(Journals.drain(reader)).hasSize(38 - 2 * i);
      }
    }
  }
}
