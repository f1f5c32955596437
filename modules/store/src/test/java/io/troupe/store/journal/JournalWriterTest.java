package io.troupe.store.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.store.file.DiskFailureException;
import io.troupe.store.file.FaultyDisk;
import io.troupe.store.file.JournalException;
import io.troupe.store.segment.JournalPosition;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JournalWriterTest {
  @TempDir(factory = MemoryDisk.class)
  private Path folder;

  private JournalWriter start(FaultyDisk disk, int capacity) throws IOException {
    return JournalWriter.start(
        Journal.open(folder, JournalSettings.defaults(), Clock.systemUTC(), disk), capacity);
  }

  private static CompletableFuture<Long> append(JournalWriter writer, long sequence) {
    return writer
        .append(List.of(Journals.payload(sequence)))
        .thenApply(JournalPosition::sequence)
        .toCompletableFuture();
  }

  private static void awaitHeldWrite(FaultyDisk disk) {
    Await.until("a write is held", disk::writerWaits);
  }

  @Test
  void append_acknowledged_isInTheJournal() throws Exception {
    try (JournalWriter writer = start(FaultyDisk.unlimited(), 16)) {
      assertThat(writer.append(Journals.payloads(1, 3)).toCompletableFuture().get().sequence())
          .isEqualTo(3);
      assertThat(Journals.read(folder)).hasSize(3);
    }
  }

  @Test
  void append_whileDiskIsBusy_commitsTheWaitingOnesInOneWriteAndOneFsync() throws Exception {
    FaultyDisk disk = FaultyDisk.unlimited();
    try (JournalWriter writer = start(disk, 100)) {
      int fsyncs = disk.fsyncs();
      int writes = disk.writes();
      disk.hold();
      List<CompletableFuture<Long>> stages = new ArrayList<>();
      stages.add(append(writer, 1));
      awaitHeldWrite(disk);
      for (int i = 2; i <= 50; i++) {
        stages.add(
            writer
                .append(List.of(Journals.payload(i)), Durability.SYNCED)
                .thenApply(JournalPosition::sequence)
                .toCompletableFuture());
      }
      disk.release();
      for (int i = 1; i <= 50; i++) {
        assertThat(stages.get(i - 1).get()).isEqualTo(i);
      }
      assertThat(disk.writes() - writes).isEqualTo(2);
      assertThat(disk.fsyncs() - fsyncs).isEqualTo(1);
    }
  }

  @Test
  void append_queueFull_failsBusyAndWritesNothingOfIt() throws Exception {
    FaultyDisk disk = FaultyDisk.unlimited();
    try (JournalWriter writer = start(disk, 2)) {
      disk.hold();
      CompletableFuture<Long> inFlight = append(writer, 1);
      awaitHeldWrite(disk);
      CompletableFuture<Long> second = append(writer, 2);
      CompletableFuture<Long> third = append(writer, 3);
      assertThatThrownBy(() -> append(writer, 99).get())
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOf(JournalException.Busy.class)
          .hasMessageContaining("2 appends wait for the disk");
      disk.release();
      assertThat(inFlight.get()).isEqualTo(1);
      assertThat(second.get()).isEqualTo(2);
      assertThat(third.get()).isEqualTo(3);
    }
    assertThat(Journals.read(folder)).hasSize(3);
  }

  @Test
  void append_diskFull_failsThisAndAllLaterOnes() throws Exception {
    FaultyDisk disk = new FaultyDisk(36 + 28 + Journals.payload(1).length + 5);
    try (JournalWriter writer = start(disk, 16)) {
      assertThat(append(writer, 1).get()).isEqualTo(1);
      assertThatThrownBy(() -> append(writer, 2).get())
          .cause()
          .isInstanceOf(DiskFailureException.class)
          .hasMessageContaining("No space left on device");
      assertThatThrownBy(() -> append(writer, 3).get())
          .cause()
          .isInstanceOf(JournalException.Unusable.class);
    }
    assertThat(Journals.read(folder)).hasSize(1);
  }

  @Test
  void close_withWaitingAppends_writesThemFirst() throws Exception {
    FaultyDisk disk = FaultyDisk.unlimited();
    List<CompletableFuture<Long>> stages = new ArrayList<>();
    JournalWriter writer = start(disk, 100);
    disk.hold();
    for (int i = 1; i <= 40; i++) {
      stages.add(append(writer, i));
    }
    disk.release();
    writer.close();
    assertThat(stages).allSatisfy(stage -> assertThat(stage).isCompleted());
    assertThat(Journals.read(folder)).hasSize(40);
    assertThatThrownBy(() -> append(writer, 41).get())
        .cause()
        .isInstanceOf(JournalException.Unusable.class)
        .hasMessageContaining("it is closed");
    writer.close();
  }

  @Test
  void close_callerInterrupted_stillWritesAndKeepsTheInterrupt() throws Exception {
    JournalWriter writer = start(FaultyDisk.unlimited(), 100);
    CompletableFuture<Long> stage = append(writer, 1);
    Thread.currentThread().interrupt();
    writer.close();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(stage).isCompletedWithValue(1L);
  }
}
