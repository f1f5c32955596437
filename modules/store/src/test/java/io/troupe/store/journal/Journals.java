package io.troupe.store.journal;

import io.troupe.store.segment.JournalRecord;
import io.troupe.store.segment.Segment;
import io.troupe.store.segment.SegmentHeader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Makes, reads and damages journals. */
public final class Journals {
  public static final JournalSettings SMALL = new JournalSettings(700, 16);

  private Journals() {}

  /** The payload that record {@code sequence} has in these tests: up to 200 bytes. */
  static byte[] payload(long sequence) {
    Random random = new Random(sequence);
    byte[] bytes = new byte[random.nextInt(200)];
    random.nextBytes(bytes);
    return bytes;
  }

  public static List<byte[]> payloads(long first, int count) {
    List<byte[]> payloads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      payloads.add(payload(first + i));
    }
    return payloads;
  }

  /** Appends {@code records} records in random batches. */
  public static void fill(Journal journal, int records, Random random) throws IOException {
    long end = journal.lastSequence() + records;
    while (journal.lastSequence() < end) {
      int batch = 1 + random.nextInt(5);
      long first = journal.lastSequence() + 1;
      journal.append(payloads(first, (int) Math.min(batch, end - first + 1)));
    }
  }

  public static List<JournalRecord> read(Path folder) throws IOException {
    try (JournalReader reader = JournalReader.open(folder)) {
      return drain(reader);
    }
  }

  public static List<JournalRecord> drain(JournalReader reader) throws IOException {
    List<JournalRecord> records = new ArrayList<>();
    for (Optional<JournalRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
      records.add(next.get());
    }
    return records;
  }

  public static List<Path> segments(Path folder) throws IOException {
    return Segment.after(folder, 0).stream().map(Segment::file).toList();
  }

  public static void truncate(Path file, long size) throws IOException {
    try (var channel = java.nio.channels.FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(size);
    }
  }

  public static void flip(Path file, int offset, int mask) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[offset] = (byte) (bytes[offset] ^ mask);
    Files.write(file, bytes);
  }

  /** Appends a frame to a segment as a writer would that does not know it was fenced. */
  public static void intrude(Path file, long sequence, long epoch, byte[] payload)
      throws IOException {
    if (SegmentHeader.read(file) instanceof SegmentHeader.Read.Whole(SegmentHeader header)) {
      ByteBuffer frame = ByteBuffer.allocate(RecordFrame.bytes(payload));
      RecordFrame.encode(new JournalRecord(sequence, epoch, payload), header.salt(), frame);
      Files.write(file, frame.array(), StandardOpenOption.APPEND);
    } else {
      throw new IllegalArgumentException("no header in " + file);
    }
  }
}
