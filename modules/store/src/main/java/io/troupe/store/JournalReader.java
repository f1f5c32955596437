package io.troupe.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Streams a journal's records in order, holding one at a time; needs no lock and may run while a
 * writer appends: it stops behind the last whole record and goes on from there when asked again.
 *
 * <p>What it returns is exactly what the journal's rightful writers wrote, by this argument. Every
 * frame carries a checksum, so a changed byte is noticed. Numbers have no gaps, within a segment
 * and from one segment's last record to the next one's header, so a missing or shortened file is
 * noticed. Each writer begins a new segment, whose header says with which record it takes over: a
 * record at or past that number in an earlier segment, or any in a later segment of a lower epoch,
 * was written by a fenced writer and is counted, not returned. Bytes that are no record may stand
 * at the very end only; anywhere else they are {@linkplain JournalException.Corrupt corruption}.
 *
 * <p>Not safe for use by several threads. An interrupt while reading closes it.
 */
public final class JournalReader implements Closeable {
  private sealed interface Place {}

  private record BeforeFirst() implements Place {}

  private record In(SegmentScanner scanner) implements Place {}

  private static final long UNKNOWN = Long.MAX_VALUE;

  private final Path folder;
  private final Set<Integer> refused = new HashSet<>();
  private Place place = new BeforeFirst();
  private JournalTail tail = new JournalTail.Whole();
  private long takenOverAt = UNKNOWN;
  private long records;
  private long fenced;
  private long epoch;

  private JournalReader(Path folder) {
    this.folder = folder;
  }

  /**
   * A reader before the first record.
   *
   * @param folder a run's {@code journal/}; it may be empty
   */
  public static JournalReader open(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      throw new IOException(
          "no journal at %s; give a run folder that holds journal/"
              .formatted(folder.toAbsolutePath()));
    }
    return new JournalReader(folder);
  }

  /**
   * The next record; empty behind the last whole one, where a later call may find more.
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
          enter(first.get());
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
              if (!goesOn(scanner, "the file ends there")) {
                tail = new JournalTail.Whole();
                return Optional.empty();
              }
            }
            case SegmentScanner.Step.Damaged(String reason) -> {
              if (!goesOn(scanner, reason) && !completed(scanner, reason)) {
                tail =
                    new JournalTail.Torn(
                        scanner.file(), scanner.position(), scanner.remaining(), reason);
                return Optional.empty();
              }
            }
          }
        }
      }
    }
  }

  /** Records returned so far, which is also the number of the last one. */
  public long records() {
    return records;
  }

  /** Records of fenced writers seen and refused so far. */
  public long fenced() {
    return fenced;
  }

  /** How the journal ended when {@link #next} last found no record. */
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
          "record %d of epoch %d stands before it, where record %d of epoch %d belongs"
              .formatted(record.sequence(), record.epoch(), records + 1, own));
    }
    return true;
  }

  /** Whether to call the scanner, or its successor, again, now that this one found no frame. */
  private boolean goesOn(SegmentScanner scanner, String reason) throws IOException {
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
    enter(next.get());
    return true;
  }

  private void enter(Opening opening) throws IOException {
    SegmentScanner scanner = new SegmentScanner(opening.segment(), opening.header());
    place = new In(scanner);
    if (opening.header().firstSequence() != records + 1) {
      throw corrupt(
          scanner,
          "its header says that it begins with record %d, and %s"
              .formatted(
                  opening.header().firstSequence(),
                  opening.header().firstSequence() > records
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

  private record Opening(Segment segment, SegmentHeader header) {}

  /**
   * The next segment of a rightful writer; counts the records of the others on the way. A segment
   * is a fenced writer's when an earlier one has a greater epoch, or a later one takes over at or
   * before its first record.
   */
  private Optional<Opening> following(int number) throws IOException {
    Deque<Opening> rightful = new ArrayDeque<>();
    long newest = epoch;
    for (Segment segment : Segment.after(folder, number)) {
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
          // Its writer died making it; it holds nothing.
        }
        case SegmentHeader.Read.Damaged(String reason) -> throw corrupt(segment.file(), 0, reason);
      }
    }
    return Optional.ofNullable(rightful.peekFirst());
  }

  private void refuse(Segment segment, SegmentHeader header) throws IOException {
    if (refused.add(segment.number())) {
      try (SegmentScanner scanner = new SegmentScanner(segment, header)) {
        while (scanner.next() instanceof SegmentScanner.Step.Intact) {
          fenced++;
        }
      }
    }
  }

  /**
   * Whether the writer has completed the frame at the present position since the last look. A
   * record behind it was written later, so a frame that is still damaged then will stay so.
   *
   * @throws JournalException.Corrupt if it will
   */
  private boolean completed(SegmentScanner scanner, String reason) throws IOException {
    OptionalLong intact = scanner.nextIntact();
    if (intact.isEmpty()) {
      return false;
    }
    if (scanner.damagedOnDisk()) {
      throw corrupt(
          scanner,
          "%s, but an intact record follows at byte %d".formatted(reason, intact.getAsLong()));
    }
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
