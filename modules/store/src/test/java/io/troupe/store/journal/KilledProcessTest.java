package io.troupe.store.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.store.file.HostName;
import io.troupe.store.file.JournalException;
import io.troupe.store.segment.JournalRecord;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class KilledProcessTest {
  private static final int KILLS = 5;

  @TempDir(factory = MemoryDisk.class)
  private Path folder;

  @TempDir private Path notes;

  @Test
  void append_processKilled_everyAcknowledgedRecordIsThere() throws Exception {
    Random random = new Random(11);
    long acknowledged = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      Process child = start(Integer.toString(kill));
      try (BufferedReader lines = child.inputReader()) {
        String opened = lines.readLine();
        assertThat(opened).startsWith("opened ");
        assertThat(Long.parseLong(opened.substring("opened ".length())))
            .isGreaterThanOrEqualTo(acknowledged);
        int enough = 100 + random.nextInt(2000);
        for (int i = 0; i < enough; i++) {
          acknowledged = Long.parseLong(lines.readLine());
        }
        child.toHandle().destroyForcibly();
      }
      child.waitFor();
      acknowledged = Math.max(acknowledged, lastNoted());
      List<JournalRecord> records = Journals.read(folder);
      assertThat((long) records.size()).isGreaterThanOrEqualTo(acknowledged);
      for (int i = 0; i < records.size(); i++) {
        assertThat(records.get(i).payload()).isEqualTo(Journals.payload(i + 1));
      }
    }
  }

  private Process start(String seed) throws IOException {
    return ChildJvm.start(
        AppendingChild.class, folder.toString(), seed, notes.resolve("noted").toString());
  }

  /** The last number that the last child has noted whole. */
  private long lastNoted() throws IOException {
    String noted = Files.readString(notes.resolve("noted"));
    return Long.parseLong(noted.substring(0, noted.lastIndexOf('\n')).lines().toList().getLast());
  }

  @Test
  void open_heldByAnotherProcess_namesItAndWorksOnceItIsDead() throws Exception {
    Process child = start("1");
    try (BufferedReader lines = child.inputReader()) {
      assertThat(lines.readLine()).isEqualTo("opened 0");
      assertThatThrownBy(() -> Journal.open(folder, JournalSettings.defaults()))
          .isInstanceOf(JournalException.Locked.class)
          .hasMessageContaining("process " + child.pid() + " on host " + HostName.name());
      child.toHandle().destroyForcibly();
    }
    child.waitFor();
    try (Journal journal = Journal.open(folder, JournalSettings.defaults())) {
      assertThat(journal.recovery().epoch()).isEqualTo(2);
    }
  }

  @Test
  void open_secondOpenRefusedHere_otherProcessesStayLockedOut() throws Exception {
    try (Journal held = Journal.open(folder, JournalSettings.defaults())) {
      assertThat(held.lastSequence()).isZero();
      assertThatThrownBy(() -> Journal.open(folder, JournalSettings.defaults()))
          .isInstanceOf(JournalException.Locked.class);
      Process child = start("1");
      try (BufferedReader lines = child.inputReader()) {
        assertThat(lines.readLine()).isEqualTo("locked");
      }
      assertThat(child.waitFor()).isZero();
    }
  }
}
