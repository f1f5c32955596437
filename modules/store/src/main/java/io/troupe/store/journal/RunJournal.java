package io.troupe.store.journal;

import io.troupe.store.segment.JournalPosition;
import io.troupe.store.segment.JournalRecord;
import io.troupe.store.state.JournalBase;
import io.troupe.store.state.RunJson;
import io.troupe.store.state.StateSnapshot;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Streams what happened in a run, from its journal: a {@link JournalReader} whose records are
 * decisions. Not safe for use by several threads.
 */
public final class RunJournal implements Closeable {
  private final JournalReader reader;
  private final Optional<StateSnapshot> base;

  private RunJournal(JournalReader reader, Optional<StateSnapshot> base) {
    this.reader = reader;
    this.base = base;
  }

  /**
   * A journal before the first record that is kept.
   *
   * @param folder a run's {@code journal/}
   */
  public static RunJournal open(Path folder) throws IOException {
    JournalReader reader = JournalReader.open(folder);
    return new RunJournal(reader, JournalBase.read(folder).map(JournalBase::snapshot));
  }

  /**
   * A journal behind a position, such as a checkpoint's; nothing before it is read.
   *
   * @throws io.troupe.store.file.JournalException.Elsewhere if the journal has no such position
   */
  public static RunJournal openAfter(Path folder, JournalPosition position) throws IOException {
    return new RunJournal(JournalReader.openAfter(folder, position), Optional.empty());
  }

  /** Returns the state of the records before the first one that is kept; none when all are kept. */
  public Optional<StateSnapshot> base() {
    return base;
  }

  /**
   * The next decision; empty behind the last whole record, where a later call may find more.
   *
   * @throws io.troupe.store.file.FormatException if the record is of another version; the next call
   *     continues behind it
   * @throws io.troupe.store.file.JournalException.Corrupt as {@link JournalReader#next}
   */
  public Optional<RunJson.Entry> next() throws IOException {
    Optional<JournalRecord> record = reader.next();
    if (record.isEmpty()) {
      return Optional.empty();
    }
    String name = "record %d of %s".formatted(record.get().sequence(), reader.file());
    return Optional.of(RunJson.entry(name, record.get().payload()));
  }

  /** Takes every decision from here to the last whole record, as {@link #next} does. */
  public void forEachNext(Consumer<RunJson.Entry> each) throws IOException {
    for (Optional<RunJson.Entry> entry = next(); entry.isPresent(); entry = next()) {
      each.accept(entry.get());
    }
  }

  /** Returns the number of the last record returned; before the first, of the one before it. */
  public long records() {
    return reader.records();
  }

  /** Records of fenced writers seen and refused so far. */
  public long fenced() {
    return reader.fenced();
  }

  /** Returns the end of the journal when {@link #next} last found no record. */
  public JournalTail tail() {
    return reader.tail();
  }

  @Override
  public void close() throws IOException {
    reader.close();
  }
}
