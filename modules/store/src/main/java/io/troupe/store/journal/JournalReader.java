package io.troupe.store.journal;

import io.troupe.store.file.JournalException;
import io.troupe.store.segment.JournalPosition;
import io.troupe.store.segment.JournalRecord;
import io.troupe.store.segment.Segment;
import io.troupe.store.segment.SegmentHeader;
import io.troupe.store.state.JournalBase;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Streams a journal's records in order, holding one at a time; needs no lock and may run while a
 * writer appends: it stops behind the last whole record and continues from there when asked again.
 *
 * <p>What it returns is exactly what the journal's rightful writers wrote, by this argument. Every
 * frame carries a checksum, so a changed byte is noticed. Numbers have no gaps, within a segment
 * and from one segment's last record to the next one's header, so a missing or shortened file is
 * noticed. Each writer begins a new segment, whose header says with which record it takes over: a
 * record at or past that number in an earlier segment, or any in a later segment of a lower epoch,
 * was written by a fenced writer and is counted, not returned. Bytes that are no record may be
 * behind the last fsync only; anywhere else they are {@linkplain JournalException.Corrupt
 * corruption}.
 *
 * <p>Not safe for use by several threads. An interrupt while reading closes it.
 */
public final class JournalReader implements Closeable {
  private sealed interface Place {}

  private record BeforeFirst() implements Place {}

  private record In(SegmentScanner scanner) implements Place {}

  private record Opening(Segment segment, SegmentHeader header) {}

  private static final long UNKNOWN = Long.MAX_VALUE;

  /** The number of times that a segment is looked for again that is being compressed. */
  private static final int LOOKS = 10;

  private final Path folder;
  private final Set<Integer> refused = new HashSet<>();
  private Place place = new BeforeFirst();
  private JournalTail tail = new JournalTail.Whole();
  private long takenOverAt = UNKNOWN;
  private long before;
  private long records;
  private long fenced;
  private long epoch;

  private JournalReader(Path folder) {
    this.folder = folder;
  }

  /**
   * A reader before the first record that is kept.
   *
   * @param folder a run's {@code journal/}; it may be empty
   */
  public static JournalReader open(Path folder) throws IOException {
    Optional<JournalBase> base = JournalBase.read(requireFolder(folder));
    return base.isPresent() ? openAfter(folder, base.get().position()) : new JournalReader(folder);
  }

  /**
   * A reader behind a record; what is before it is neither read nor verified, but for the headers
   * of its segments.
   *
   * @throws JournalException.Elsewhere if the journal's rightful writers have no record there
   */
  public static JournalReader openAfter(Path folder, JournalPosition position) throws IOException {
    JournalReader reader = new JournalReader(requireFolder(folder));
    Optional<Opening> opening =
        reader.rightful(0).stream()
            .filter(one -> one.segment().number() == position.segment())
            .filter(one -> one.header().epoch() == position.epoch())
            .findFirst();
    if (opening.isEmpty() || opening.get().header().firstSequence() > position.sequence() + 1) {
      throw elsewhere(folder, position);
    }
    reader.enter(opening.get(), position.offset(), position.sequence());
    if (reader.takenOverAt <= position.sequence() || reader.endsBefore(position.offset())) {
      reader.close();
      throw elsewhere(folder, position);
    }
    return reader;
  }

  /** A reader before the last segment, where alone the journal may be torn. */
  static JournalReader openLast(Path folder) throws IOException {
    JournalReader reader = new JournalReader(requireFolder(folder));
    Opening last = reader.rightful(0).peekLast();
    if (last != null) {
      reader.enter(last, SegmentHeader.BYTES, last.header().firstSequence() - 1);
    }
    return reader;
  }

  /** Returns the beginnings of the segments of rightful writers. */
  static List<JournalPosition> starts(Path folder) throws IOException {
    return new JournalReader(requireFolder(folder))
        .rightful(0).stream()
            .map(
                one ->
                    new JournalPosition(
                        one.segment().number(),
                        SegmentHeader.BYTES,
                        one.header().firstSequence() - 1,
                        one.header().epoch()))
            .toList();
  }

  private static Path requireFolder(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      throw new IOException(
          "no journal at %s; give a run folder that holds journal/"
              .formatted(folder.toAbsolutePath()));
    }
    return folder;
  }

  private boolean endsBefore(long offset) throws IOException {
    return place instanceof In(SegmentScanner scanner) && scanner.size() < offset;
  }

  private static JournalException.Elsewhere elsewhere(Path folder, JournalPosition position) {
    return new JournalException.Elsewhere(
        "the journal %s has no record %d of epoch %d in segment %d"
            .formatted(
                folder.toAbsolutePath().normalize(),
                position.sequence(),
                position.epoch(),
                position.segment()));
  }

  /**
   * Returns the next record; empty behind the last whole one, where a later call may find more.
   *
   * @throws JournalException.Corrupt if bytes that were records are not readable any more
   */
  public Optional<JournalRecord> next() throws IOException {
    while (true) {
      switch (place) {
        case BeforeFirst() -> {
          Optional<Opening> first = following(0);
          if (first.isEmpty()) {
            return Optional.empty();
          }
          enter(first.get(), SegmentHeader.BYTES, 0);
        }
        case In(SegmentScanner scanner) -> {
          switch (scanner.next()) {
            case SegmentScanner.Step.Intact(JournalRecord record) -> {
              if (accepts(scanner, record)) {
                records = record.sequence();
                return Optional.of(record);
              }
            }
            case SegmentScanner.Step.End() -> {
              if (!continues(scanner, "the file ends there")) {
                tail = new JournalTail.Whole();
                return Optional.empty();
              }
            }
            case SegmentScanner.Step.Damaged(String reason) -> {
              if (!continues(scanner, reason) && endsIn(scanner, reason)) {
                return Optional.empty();
              }
            }
          }
        }
      }
    }
  }

  /** Returns the number of the last record returned; before the first, of the one before it. */
  public long records() {
    return records;
  }

  /** Records of the journal that are not read: a reader may begin behind them. */
  public long before() {
    return before;
  }

  /** The file that the last record was in; the folder before the first. */
  public Path file() {
    return place instanceof In(SegmentScanner scanner) ? scanner.file() : folder;
  }

  /** Records of fenced writers seen and refused so far. */
  public long fenced() {
    return fenced;
  }

  /** Returns the end of the journal when {@link #next} last found no record. */
  public JournalTail tail() {
    return tail;
  }

  /** The greatest epoch seen, 0 before any. */
  long epoch() {
    return epoch;
  }

  private boolean accepts(SegmentScanner scanner, JournalRecord record) throws IOException {
    long own = scanner.header().epoch();
    if (record.sequence() >= takenOverAt || record.epoch() < own) {
      fenced++;
      return false;
    }
    if (record.epoch() != own || record.sequence() != records + 1) {
      throw corrupt(
          scanner,
          "record %d of epoch %d is before it, where record %d of epoch %d belongs"
              .formatted(record.sequence(), record.epoch(), records + 1, own));
    }
    return true;
  }

  /** Whether to call the scanner, or its successor, again, now that this one found no frame. */
  private boolean continues(SegmentScanner scanner, String reason) throws IOException {
    Optional<Opening> next = following(scanner.number());
    if (next.isEmpty()) {
      return false;
    }
    long first = next.get().header().firstSequence();
    if (takenOverAt == UNKNOWN) {
      // The old writer may have written between the last look and the new segment: look again.
      takenOverAt = first;
      return true;
    }
    if (records + 1 < first) {
      throw corrupt(
          scanner, "%s, but the next segment begins with record %d".formatted(reason, first));
    }
    scanner.close();
    enter(next.get(), SegmentHeader.BYTES, records);
    return true;
  }

  private void enter(Opening opening, long offset, long sequence) throws IOException {
    SegmentScanner scanner = scanner(opening, offset);
    if (place instanceof BeforeFirst) {
      before = sequence;
      records = sequence;
    }
    place = new In(scanner);
    long first = opening.header().firstSequence();
    if (offset == SegmentHeader.BYTES && first != records + 1) {
      throw corrupt(
          scanner,
          "its header says that it begins with record %d, and %s"
              .formatted(
                  first,
                  first > records
                      ? "an earlier segment file is missing"
                      : "records from there on, read before, turn out to be a fenced writer's;"
                          + " read the journal again from its start"));
    }
    epoch = opening.header().epoch();
    takenOverAt =
        following(opening.segment().number())
            .map(next -> next.header().firstSequence())
            .orElse(UNKNOWN);
  }

  /** Opens a segment's file, which may have been compressed since it was listed. */
  private SegmentScanner scanner(Opening opening, long offset) throws IOException {
    Segment segment = opening.segment();
    for (int look = 1; ; look++) {
      try {
        return new SegmentScanner(segment, opening.header(), offset);
      } catch (NoSuchFileException compressed) {
        List<Segment> there = Segment.after(folder, segment.number() - 1);
        if (look == LOOKS || there.isEmpty() || there.getFirst().number() != segment.number()) {
          throw compressed;
        }
        segment = there.getFirst();
      }
    }
  }

  private Optional<Opening> following(int number) throws IOException {
    return Optional.ofNullable(rightful(number).peekFirst());
  }

  /**
   * The segments of rightful writers after {@code number}; counts the records of the others on the
   * way. A segment is a fenced writer's when an earlier one has a greater epoch, or a later one
   * takes over at or before its first record.
   */
  private Deque<Opening> rightful(int number) throws IOException {
    for (int look = 1; ; look++) {
      try {
        return rightful(Segment.after(folder, number));
      } catch (NoSuchFileException compressed) {
        if (look == LOOKS) {
          throw compressed;
        }
      }
    }
  }

  private Deque<Opening> rightful(List<Segment> segments) throws IOException {
    Deque<Opening> rightful = new ArrayDeque<>();
    long newest = epoch;
    for (Segment segment : segments) {
      switch (SegmentHeader.read(segment.file())) {
        case SegmentHeader.Read.Whole(SegmentHeader header) -> {
          if (header.epoch() < newest) {
            refuse(segment, header);
          } else {
            newest = header.epoch();
            while (!rightful.isEmpty()
                && header.firstSequence() <= rightful.getLast().header().firstSequence()) {
              Opening fencedOne = rightful.removeLast();
              refuse(fencedOne.segment(), fencedOne.header());
            }
            rightful.addLast(new Opening(segment, header));
          }
        }
        case SegmentHeader.Read.Unfinished _ -> {
          // The segment's writer died before the first record.
        }
        case SegmentHeader.Read.Damaged(String reason) -> throw corrupt(segment.file(), 0, reason);
      }
    }
    return rightful;
  }

  private void refuse(Segment segment, SegmentHeader header) throws IOException {
    if (!refused.contains(segment.number())) {
      long found = 0;
      try (SegmentScanner scanner = new SegmentScanner(segment, header)) {
        while (scanner.next() instanceof SegmentScanner.Step.Intact) {
          found++;
        }
      }
      refused.add(segment.number()); // One that was compressed before it was opened is read again.
      fenced += found;
    }
  }

  /**
   * Whether the journal ends in the bytes at the present position, for now; when not, the writer
   * has completed them since the last look. What an fsync had put on the disk and is not readable
   * is corruption. Behind that, anything may be left by a power loss.
   *
   * @throws JournalException.Corrupt if they were records once
   */
  private boolean endsIn(SegmentScanner scanner, String reason) throws IOException {
    long synced = SyncedPosition.bytesOf(folder, scanner.number(), scanner.header().epoch());
    OptionalLong intact = scanner.nextIntact();
    if (intact.isPresent() && !scanner.damagedOnDisk()) {
      return false;
    }
    // A file that ends before the synced point was cut there, by who gave up what follows.
    if (scanner.position() < synced && (intact.isPresent() || scanner.size() >= synced)) {
      throw corrupt(
          scanner,
          intact.isPresent()
              ? "%s, but an intact record follows at byte %d".formatted(reason, intact.getAsLong())
              : "%s, but the first %d bytes were synced".formatted(reason, synced));
    }
    tail =
        new JournalTail.Torn(
            scanner.file(), scanner.position(), scanner.remaining(), reason, intact.isPresent());
    return true;
  }

  private JournalException.Corrupt corrupt(SegmentScanner scanner, String reason) {
    return corrupt(scanner.file(), scanner.position(), reason);
  }

  private JournalException.Corrupt corrupt(Path file, long offset, String reason) {
    Path journal = folder.toAbsolutePath().normalize();
    String cut =
        offset <= SegmentHeader.BYTES
            ? "delete %s".formatted(file.getFileName())
            : "cut it there (truncate -s %d %s)".formatted(offset, file.getFileName());
    return new JournalException.Corrupt(
        ("the journal is damaged: %s at byte %d, after record %d: %s. Nothing was changed."
                + " Restore the file from a copy; or, to give up every record after %d, copy %s"
                + " elsewhere, %s, delete the segments after it, and resume from a checkpoint that"
                + " is not newer")
            .formatted(
                file.toAbsolutePath().normalize(), offset, records, reason, records, journal, cut));
  }

  @Override
  public void close() throws IOException {
    if (place instanceof In(SegmentScanner scanner)) {
      scanner.close();
    }
  }
}
