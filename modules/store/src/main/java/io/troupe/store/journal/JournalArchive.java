package io.troupe.store.journal;

import io.troupe.core.run.Event;
import io.troupe.core.run.RunState;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.segment.JournalPosition;
import io.troupe.store.segment.Segment;
import io.troupe.store.segment.SegmentHeader;
import io.troupe.store.state.JournalBase;
import io.troupe.store.state.RunJson;
import io.troupe.store.state.StateSnapshot;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The older segments of a journal, those that no resume reads: it compresses them, and drops the
 * oldest when they are too many. Only for who holds the journal's lock; the segment that is written
 * and all that a checkpoint needs are never touched.
 *
 * <p>A segment is replaced by its compressed form only when that is whole on the disk, and dropped
 * only when {@code base.json} holds the state that the dropped records come to. So a crash at any
 * moment leaves a journal that reads the same.
 */
final class JournalArchive {
  /** Asked between two pieces of work. */
  @FunctionalInterface
  interface Stop {
    boolean asked();
  }

  private final Path journal;
  private final Path checkpoints;
  private final long keepBytes;
  private final Stop stop;

  /**
   * The archive of a run's journal.
   *
   * @param keepBytes older segments that are kept, compressed; 0 keeps all
   */
  JournalArchive(Path journal, Path checkpoints, long keepBytes, Stop stop) {
    this.journal = journal;
    this.checkpoints = checkpoints;
    this.keepBytes = keepBytes;
    this.stop = stop;
  }

  /** Compresses and drops what can be. */
  void tidy() throws IOException {
    removeLeftovers();
    OptionalInt needed = firstNeeded();
    if (needed.isEmpty()) {
      return;
    }
    for (Segment segment : Segment.after(journal, 0)) {
      if (stop.asked()) {
        return;
      }
      if (segment.number() < needed.getAsInt()
          && !segment.compressed()
          && SegmentHeader.read(segment.file()) instanceof SegmentHeader.Read.Whole) {
        SegmentCompression.replace(segment, stop);
      }
    }
    if (keepBytes > 0) {
      drop(needed.getAsInt());
    }
  }

  /** The segment in which the oldest checkpoint's later history begins. */
  private OptionalInt firstNeeded() throws IOException {
    List<Integer> segments = new ArrayList<>();
    for (Checkpoint checkpoint : Checkpoints.view(checkpoints).list().whole()) {
      Optional<StateSnapshot> snapshot =
          StateSnapshot.read(checkpoint.directory().resolve(StateSnapshot.FILE));
      if (snapshot.isEmpty()) {
        return OptionalInt.empty();
      }
      segments.add(snapshot.get().journal().segment());
    }
    return segments.stream().mapToInt(Integer::intValue).min();
  }

  private void drop(int needed) throws IOException {
    List<JournalPosition> starts = JournalReader.starts(journal);
    long kept = 0;
    int first = needed;
    for (Segment segment : Segment.after(journal, 0).reversed()) {
      if (segment.number() < needed) {
        kept += Files.size(segment.file());
        if (kept > keepBytes) {
          break;
        }
        first = segment.number();
      }
    }
    int keptFrom = first;
    Optional<JournalPosition> start =
        starts.stream().filter(one -> one.segment() >= keptFrom).findFirst();
    if (start.isPresent() && start.get().sequence() > dropped()) {
      Optional<RunState> state = foldTo(start.get().sequence());
      if (state.isPresent()) {
        new JournalBase(new StateSnapshot(start.get(), state.get())).write(journal);
      }
    }
    removeDropped();
  }

  private long dropped() throws IOException {
    return JournalBase.read(journal).map(base -> base.position().sequence()).orElse(0L);
  }

  /** The state behind a record; none if asked to stop. */
  private Optional<RunState> foldTo(long record) throws IOException {
    try (RunJournal reader = RunJournal.open(journal)) {
      RunState state = reader.base().map(StateSnapshot::state).orElse(RunState.INITIAL);
      while (reader.records() < record) {
        if (stop.asked()) {
          return Optional.empty();
        }
        Optional<RunJson.Entry> next = reader.next();
        if (next.isEmpty()) {
          return Optional.empty();
        }
        for (Event event : next.get().events()) {
          state = state.evolve(event);
        }
      }
      return Optional.of(state);
    }
  }

  private void removeDropped() throws IOException {
    Optional<JournalBase> base = JournalBase.read(journal);
    if (base.isPresent()) {
      for (Segment segment : Segment.after(journal, 0)) {
        if (segment.number() < base.get().position().segment()) {
          Files.deleteIfExists(segment.file());
          Files.deleteIfExists(segment.compressedFile());
        }
      }
    }
  }

  private void removeLeftovers() throws IOException {
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(journal, SegmentCompression.LEFTOVERS)) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
    }
  }
}
