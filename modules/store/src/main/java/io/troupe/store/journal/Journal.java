package io.troupe.store.journal;

import static io.troupe.core.Require.require;

import io.troupe.base.files.AtomicFile;
import io.troupe.base.files.DurableFiles;
import io.troupe.store.file.ChannelOpener;
import io.troupe.store.file.DiskFailureException;
import io.troupe.store.file.JournalException;
import io.troupe.store.file.WriterFence;
import io.troupe.store.segment.JournalPosition;
import io.troupe.store.segment.JournalRecord;
import io.troupe.store.segment.Segment;
import io.troupe.store.segment.SegmentBytes;
import io.troupe.store.segment.SegmentHeader;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/**
 * The one writer of a run's journal: an append-only sequence of records in segment files {@code
 * 000001.journal}, {@code 000002.journal} and so on. The format is in {@code docs/formats.md}.
 *
 * <p><b>One writer.</b> Opening takes the operating system's lock on the folder, so a second writer
 * is refused. Where that lock does not work (some network file systems), the epoch does: every
 * opening begins a segment with a greater epoch, which fences the writers before it. {@link
 * JournalReader} refuses what they write afterwards, and they notice at their next append.
 *
 * <p><b>Durable prefix.</b> Bytes are only ever appended, so what the end of a process leaves is a
 * prefix of what was written and at most one record that is cut off. What the end of the machine
 * leaves is whole up to the last fsync, which {@code synced.json} holds, and anything behind it.
 * Opening cuts off what is not whole; it was never acknowledged as what it did not survive. A
 * record is whole or absent; a list of records is not: what must be all or nothing belongs into one
 * record.
 *
 * <p>After a failed write or fsync it is unknown what the disk holds, so this journal refuses
 * further appends until it is opened again. Not safe for use by several threads; an interrupt while
 * writing closes it. {@link JournalWriter} gives it a thread of its own.
 */
public final class Journal implements Closeable {
  private static final SecureRandom RANDOM = new SecureRandom();

  private sealed interface State {}

  private record Open() implements State {}

  private record Unusable(String reason) implements State {}

  private final Path folder;
  private final JournalSettings settings;
  private final ChannelOpener opener;
  private final JournalLock lock;
  private final JournalRecovery recovery;
  private SegmentWriter segment;
  private long lastSequence;
  private Optional<JournalPosition> synced = Optional.empty();
  private State state = new Open();

  private Journal(
      Path folder,
      JournalSettings settings,
      ChannelOpener opener,
      JournalLock lock,
      JournalRecovery recovery,
      SegmentWriter segment) {
    this.folder = folder;
    this.settings = settings;
    this.opener = opener;
    this.lock = lock;
    this.recovery = recovery;
    this.segment = segment;
    this.lastSequence = recovery.records();
  }

  /**
   * Opens a journal for writing, making it if there is none. Reads its last segment, which alone
   * can be torn; cuts off a torn tail, keeping a copy of it if records are in it, and reports that
   * in {@link #recovery}.
   *
   * @param folder a run's {@code journal/}
   * @throws JournalException.Locked if another writer holds it
   * @throws JournalException.Corrupt if a synced record of that segment cannot be read; nothing is
   *     changed
   * @throws DiskFailureException if the folder or a file cannot be read or written
   */
  public static Journal open(Path folder, JournalSettings settings) throws IOException {
    return open(folder, settings, Clock.systemUTC(), FileChannel::open);
  }

  public static Journal open(
      Path folder, JournalSettings settings, Clock clock, ChannelOpener opener) throws IOException {
    try {
      Files.createDirectories(folder);
      JournalLock lock = JournalLock.acquire(folder);
      try {
        JournalRecovery recovery = recover(folder);
        lock.announce(recovery.epoch(), clock.instant());
        SegmentWriter segment = create(folder, recovery.epoch(), recovery.records() + 1, opener);
        return new Journal(folder, settings, opener, lock, recovery, segment);
      } catch (IOException | RuntimeException failure) {
        lock.close();
        throw failure;
      }
    } catch (IOException failure) {
      throw DiskFailureException.explain("open the journal for writing", folder, failure);
    }
  }

  /** Returns the findings of the opening. */
  public JournalRecovery recovery() {
    return recovery;
  }

  /** The number of the last record, 0 before the first. */
  public long lastSequence() {
    return lastSequence;
  }

  /** The place behind the last record. */
  public JournalPosition position() {
    return new JournalPosition(
        segment.segment().number(), segment.bytes(), lastSequence, recovery.epoch());
  }

  /**
   * Writes records in one go; when it returns they survive the end of this process, but not yet
   * that of the machine.
   *
   * @param payloads at least one, each at most {@link JournalRecord#MAX_PAYLOAD_BYTES}
   * @return the number of the last one
   * @throws JournalException.Fenced if another writer has taken over; nothing was written
   * @throws DiskFailureException if the disk refused; some of the records may be written, and this
   *     journal is unusable from now on
   */
  public long append(List<byte[]> payloads) throws IOException {
    requireUsable();
    ByteBuffer frames = ByteBuffer.allocate(bytesOf(payloads));
    try {
      refuseWhenFenced();
      if (segment.bytes() >= settings.segmentBytes()) {
        startSegment();
      }
      long sequence = lastSequence;
      for (byte[] payload : payloads) {
        JournalRecord record = new JournalRecord(++sequence, recovery.epoch(), payload);
        RecordFrame.encode(record, segment.salt(), frames);
      }
      segment.write(frames.flip());
      lastSequence = sequence;
      return sequence;
    } catch (IOException failure) {
      throw failed("append to the journal", failure);
    } catch (RuntimeException | Error failure) {
      // Half a record may be written: one behind it would turn a torn tail into a hole.
      state = new Unusable("an earlier write failed (%s)".formatted(failure));
      throw failure;
    }
  }

  /**
   * Fsyncs: when it returns, everything appended survives the end of the machine.
   *
   * @throws DiskFailureException if the disk refused; this journal is unusable from now on
   */
  public void sync() throws IOException {
    requireUsable();
    try {
      segment.sync();
      if (!synced.equals(Optional.of(position()))) {
        SyncedPosition.write(folder, position());
        synced = Optional.of(position());
      }
    } catch (IOException failure) {
      throw failed("fsync the journal", failure);
    }
  }

  /** Fsyncs, closes the file and releases the lock. A failure to fsync is thrown after that. */
  @Override
  public void close() throws IOException {
    boolean open = state instanceof Open;
    try {
      if (open) {
        sync();
      }
    } finally {
      state = new Unusable("it is closed");
      segment.close();
      lock.close();
    }
  }

  private static JournalRecovery recover(Path folder) throws IOException {
    try (JournalReader reader = JournalReader.openLast(folder)) {
      while (reader.next().isPresent()) {}
      switch (reader.tail()) {
        case JournalTail.Torn torn -> cut(torn);
        case JournalTail.Whole() -> {
          if (Files.isRegularFile(reader.file()) && !Segment.isCompressed(reader.file())) {
            // The segment's writer may have been killed before an fsync of the last records.
            DurableFiles.syncFile(reader.file());
          }
        }
      }
      return new JournalRecovery(reader.epoch() + 1, reader.records(), reader.tail());
    }
  }

  private static void cut(JournalTail.Torn torn) throws IOException {
    try (FileChannel file =
        FileChannel.open(torn.file(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (torn.holed()) {
        ByteBuffer rest = ByteBuffer.allocate(Math.toIntExact(torn.bytes()));
        new SegmentBytes.Plain(file).read(rest, torn.offset());
        AtomicFile.replace(JournalRecovery.copyOf(torn), rest.array());
      }
      file.truncate(torn.offset()).force(true);
    }
  }

  private static SegmentWriter create(
      Path folder, long epoch, long firstSequence, ChannelOpener opener) throws IOException {
    List<Segment> existing = Segment.after(folder, 0);
    int number = existing.isEmpty() ? 1 : existing.getLast().number() + 1;
    return SegmentWriter.create(
        Segment.of(folder, number),
        new SegmentHeader(firstSequence, epoch, RANDOM.nextLong()),
        opener);
  }

  /**
   * Starts a segment; the full segment is durable before the next one exists, so only the last one
   * can be torn.
   */
  private void startSegment() throws IOException {
    segment.sync();
    SegmentWriter next = create(folder, recovery.epoch(), lastSequence + 1, opener);
    segment.close();
    segment = next;
  }

  /** Whether another writer has opened this journal since; may be asked by any thread. */
  public WriterFence fence() {
    long epoch = recovery.epoch();
    return () -> {
      for (Segment segment : Segment.after(folder, 0)) {
        if (!segment.compressed()
            && SegmentHeader.read(segment.file()) instanceof SegmentHeader.Read.Whole(var header)
            && header.epoch() > epoch) {
          throw fenced(header.epoch());
        }
      }
    };
  }

  private JournalException.Fenced fenced(long epoch) {
    return new JournalException.Fenced(
        ("the journal %s belongs to another writer now (epoch %d, this one has %d);"
                + " stop this process")
            .formatted(folder.toAbsolutePath(), epoch, recovery.epoch()));
  }

  private void refuseWhenFenced() throws IOException {
    int number = segment.segment().number();
    Segment next = Segment.of(folder, number + 1);
    if (Files.exists(segment.segment().file())
        && !Files.exists(next.file())
        && !Files.exists(next.compressedFile())) {
      return;
    }
    if (!Files.exists(segment.segment().file())) {
      // Only a later writer compresses or drops it.
      throw new JournalException.Fenced(
          ("the journal %s belongs to another writer now: %s is not there any more; stop this"
                  + " process")
              .formatted(folder.toAbsolutePath(), segment.segment().file().getFileName()));
    }
    for (Segment later : Segment.after(folder, number)) {
      if (SegmentHeader.read(later.file()) instanceof SegmentHeader.Read.Whole(var header)
          && header.epoch() > recovery.epoch()) {
        throw fenced(header.epoch());
      }
    }
  }

  private void requireUsable() throws JournalException {
    if (state instanceof Unusable(String reason)) {
      throw new JournalException.Unusable(
          "the journal %s takes no more records: %s".formatted(folder.toAbsolutePath(), reason));
    }
  }

  private IOException failed(String doing, IOException failure) {
    IOException explained = DiskFailureException.explain(doing, segment.segment().file(), failure);
    state = new Unusable("an earlier write failed (%s)".formatted(explained.getMessage()));
    return explained;
  }

  private static int bytesOf(List<byte[]> payloads) {
    require(!payloads.isEmpty(), "an append holds at least one record");
    long sum = payloads.stream().mapToLong(RecordFrame::bytes).sum();
    require(
        sum <= Integer.MAX_VALUE - 8,
        "an append holds at most 2 GiB of records, not %d bytes",
        sum);
    return (int) sum;
  }
}
