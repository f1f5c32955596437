package io.troupe.store.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.files.FileTree;
import io.troupe.core.run.Event;
import io.troupe.core.run.RunState;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.file.FaultyDisk;
import io.troupe.store.file.JournalException;
import io.troupe.store.segment.Segment;
import io.troupe.store.segment.SegmentHeader;
import io.troupe.store.state.JournalBase;
import io.troupe.store.state.RunJson;
import io.troupe.store.state.RunJsonTest;
import io.troupe.store.state.StateSnapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JournalArchiveTest {
  private static final JournalSettings SMALL = new JournalSettings(700, 16);
  private static final long ALL = 0;

  @TempDir(factory = MemoryDisk.class)
  private Path run;

  private final List<RunJson.Entry> written = new ArrayList<>();
  private RunState state = RunState.INITIAL;

  private Path journal() {
    return run.resolve("journal");
  }

  /** A random run, with checkpoints after these shares of its events. */
  private void play(double... checkpoints) throws IOException {
    List<Event> events = new RunJsonTest.History(3).events;
    Checkpoints folder = Checkpoints.open(run.resolve("checkpoints"));
    try (Journal journal = Journal.open(journal(), SMALL)) {
      for (int i = 0; i < events.size(); i++) {
        RunJson.Entry entry = new RunJson.Entry(1_000 + i, List.of(events.get(i)));
        written.add(entry);
        journal.append(List.of(RunJson.encode(entry)));
        state = state.evolve(events.get(i));
        for (int step = 0; step < checkpoints.length; step++) {
          if (i == (int) (checkpoints[step] * events.size())) {
            StateSnapshot snapshot = new StateSnapshot(journal.position(), state);
            folder.save(step, at -> snapshot.write(at.resolve(StateSnapshot.FILE)));
          }
        }
      }
    }
  }

  private void tidy(long keepBytes) throws IOException {
    new JournalArchive(journal(), run.resolve("checkpoints"), keepBytes, () -> false).tidy();
  }

  private List<RunJson.Entry> read() throws IOException {
    try (RunJournal reader = RunJournal.open(journal())) {
      List<RunJson.Entry> entries = new ArrayList<>();
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        entries.add(next.get());
      }
      return entries;
    }
  }

  private List<Boolean> compressed() throws IOException {
    return Segment.after(journal(), 0).stream().map(Segment::compressed).toList();
  }

  private int needed(long step) throws IOException {
    return StateSnapshot.read(run.resolve("checkpoints/step" + step + "/" + StateSnapshot.FILE))
        .orElseThrow()
        .journal()
        .segment();
  }

  @Test
  void tidy_twoCheckpoints_compressesWhatTheOlderOneDoesNotNeed() throws IOException {
    play(0.5, 0.9);
    long plain = bytes();
    tidy(ALL);
    int needed = needed(0);
    List<Boolean> compressed = compressed();
    assertThat(needed).isGreaterThan(5);
    for (int i = 0; i < compressed.size(); i++) {
      assertThat(compressed.get(i)).as("segment %d", i + 1).isEqualTo(i + 1 < needed);
    }
    assertThat(bytes()).isLessThan(plain);
    assertThat(read()).isEqualTo(written);
    try (Journal journal = Journal.open(journal(), SMALL)) {
      assertThat(journal.recovery().records()).isEqualTo(written.size());
    }
    tidy(ALL);
    assertThat(read()).isEqualTo(written);
  }

  private long bytes() throws IOException {
    long sum = 0;
    for (Segment segment : Segment.after(journal(), 0)) {
      sum += Files.size(segment.file());
    }
    return sum;
  }

  @Test
  void tidy_noCheckpoint_changesNothing() throws IOException {
    play();
    tidy(1);
    assertThat(compressed()).doesNotContain(true);
    assertThat(read()).isEqualTo(written);
  }

  @Test
  void tidy_positionInACompressedSegment_readsOnFromThere() throws IOException {
    play(0.3, 0.9);
    StateSnapshot early =
        StateSnapshot.read(run.resolve("checkpoints/step0/" + StateSnapshot.FILE)).orElseThrow();
    FileTree.delete(run.resolve("checkpoints/step0"));
    tidy(ALL);
    assertThat(compressed().get(early.journal().segment() - 1)).isTrue();
    try (RunJournal later = RunJournal.openAfter(journal(), early.journal())) {
      assertThat(later.next()).contains(written.get(Math.toIntExact(early.journal().sequence())));
    }
  }

  @Test
  void tidy_tooMuchIsKept_dropsTheOldestAndKeepsWhatTheyComeTo() throws IOException {
    play(0.5, 0.9);
    tidy(ALL);
    List<Segment> before = Segment.after(journal(), 0);
    long keep = 3 * Files.size(before.get(needed(0) - 2).file());
    tidy(keep);

    List<Segment> after = Segment.after(journal(), 0);
    assertThat(after).hasSizeLessThan(before.size()).hasSizeGreaterThan(before.size() - needed(0));
    try (RunJournal reader = RunJournal.open(journal())) {
      StateSnapshot base = reader.base().orElseThrow();
      assertThat(base.journal().segment()).isEqualTo(after.getFirst().number());
      int dropped = Math.toIntExact(base.journal().sequence());
      assertThat(reader.records()).isEqualTo(dropped).isPositive();
      RunState expected = RunState.INITIAL;
      for (RunJson.Entry entry : written.subList(0, dropped)) {
        expected = expected.evolve(entry.events().getFirst());
      }
      assertThat(base.state()).isEqualTo(expected);
    }
    int kept = read().size();
    assertThat(read()).isEqualTo(written.subList(written.size() - kept, written.size()));

    tidy(1); // what is kept may shrink further: the next base is folded on from this one
    assertThat(Segment.after(journal(), 0).getFirst().number()).isEqualTo(needed(0));
    RunState end = JournalBase.read(journal()).orElseThrow().snapshot().state();
    for (RunJson.Entry entry : read()) {
      end = end.evolve(entry.events().getFirst());
    }
    assertThat(end).isEqualTo(state);
    assertThat(JournalSuffix.whole(journal()).lastFence()).isEqualTo(state.lastFence());
  }

  @Test
  void tidy_afterACrashAtEachStep_readsTheSameAndFinishes() throws IOException {
    play(0.6);
    Segment first = Segment.after(journal(), 0).getFirst();
    byte[] plain = Files.readAllBytes(first.file());
    Path leftover = journal().resolve(".000001.journal.gz.tmp-0badcafe");
    Files.write(leftover, new byte[] {1});
    assertThat(read()).isEqualTo(written);
    tidy(ALL);
    assertThat(leftover).doesNotExist();
    Files.write(first.file(), plain); // renamed, and the plain file not yet deleted
    assertThat(read()).isEqualTo(written);
    tidy(ALL);
    assertThat(first.file()).doesNotExist();
    assertThat(read()).isEqualTo(written);

    tidy(1);
    int kept = read().size();
    Files.write(first.file(), plain); // the base written, and the dropped not yet deleted
    assertThat(read()).hasSize(kept);
    tidy(1);
    assertThat(first.file()).doesNotExist();
  }

  @Test
  void tidy_askedToStop_leavesEverySegmentWhole() throws IOException {
    play(0.6);
    int[] asked = {0};
    new JournalArchive(journal(), run.resolve("checkpoints"), 1, () -> ++asked[0] > 4).tidy();
    assertThat(compressed()).contains(true, false);
    assertThat(read()).isEqualTo(written);
    assertThat(JournalBase.read(journal())).isEqualTo(Optional.empty());
  }

  @Test
  void read_compressedSegmentDamaged_isCorruptAndNamed() throws IOException {
    play(0.6);
    tidy(ALL);
    Path file = Segment.after(journal(), 0).get(1).file();
    for (int i = 0;
        i < 16;
        i++) { // one bit may refer to an equal text elsewhere, and change nothing
      Journals.flip(file, (int) Files.size(file) / 2 + i, 0xff);
    }
    assertThatThrownBy(this::read)
        .isInstanceOf(JournalException.Corrupt.class)
        .hasMessageContaining("000002.journal.gz");
  }

  @Test
  void read_segmentCompressedUnderAReader_goesOn() throws IOException {
    play(0.6);
    List<RunJson.Entry> entries = new ArrayList<>();
    try (RunJournal reader = RunJournal.open(journal())) {
      entries.add(reader.next().orElseThrow());
      tidy(ALL);
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        entries.add(next.get());
      }
    }
    assertThat(entries).isEqualTo(written);
  }

  @Test
  void append_fencedWriterWhoseSegmentsAreCompressedOrDropped_isFenced() throws IOException {
    for (long keep : new long[] {ALL, 1}) {
      Path other = run.resolve("keep" + keep);
      Files.createDirectories(other);
      try (Journal old = Journal.open(other.resolve("journal"), SMALL)) {
        Segment first = Segment.after(other.resolve("journal"), 0).getFirst();
        SegmentWriter.create(
                Segment.of(other.resolve("journal"), 2),
                new SegmentHeader(1, 2, 7),
                FaultyDisk.unlimited())
            .close();
        Path next = Segment.of(other.resolve("journal"), 2).compressedFile();
        SegmentCompression.replace(Segment.of(other.resolve("journal"), 2), () -> false);
        assertThat(next).exists();
        if (keep == 1) {
          Files.delete(first.file());
          Files.delete(next);
        }
        assertThatThrownBy(() -> old.append(List.of(new byte[1])))
            .isInstanceOf(JournalException.Fenced.class);
      }
    }
  }
}
