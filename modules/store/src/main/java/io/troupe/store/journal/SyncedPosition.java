package io.troupe.store.journal;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.store.file.FormatVersions;
import io.troupe.store.file.StoreJson;
import io.troupe.store.segment.JournalPosition;
import io.troupe.store.segment.SegmentHeader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The position up to which a journal is known to be on the disk: {@code journal/synced.json},
 * written after each fsync. It separates the bytes that a power loss may have taken from those that
 * it may not.
 *
 * <p>All segments before the last one are synced without being named here: a segment is made only
 * after the one before it was fsynced.
 */
final class SyncedPosition {
  private static final String NAME = "synced.json";
  private static final int FORMAT = 1;

  private SyncedPosition() {}

  /** Notes that everything before a position survives the end of the machine. */
  static void write(Path journal, JournalPosition position) throws IOException {
    Map<String, Object> mark = new LinkedHashMap<>();
    mark.put("format", FORMAT);
    mark.put("segment", position.segment());
    mark.put("offset", position.offset());
    mark.put("sequence", position.sequence());
    mark.put("epoch", position.epoch());
    AtomicFile.replace(journal.resolve(NAME), StoreJson.LINE.writeValueAsBytes(mark));
  }

  /**
   * Bytes of a segment that are known to be on the disk.
   *
   * @param epoch of the segment's writer
   */
  static long bytesOf(Path journal, int segment, long epoch) throws IOException {
    return read(journal)
        .filter(mark -> mark.segment() == segment && mark.epoch() == epoch)
        .map(JournalPosition::offset)
        .orElse((long) SegmentHeader.BYTES);
  }

  private static Optional<JournalPosition> read(Path journal) throws IOException {
    Path file = journal.resolve(NAME);
    try {
      JsonNode mark = StoreJson.LINE.readTree(Files.readAllBytes(file));
      FormatVersions.check(
          file, mark, FORMAT, "delete it: the journal's end is then taken as not synced");
      return Optional.of(
          new JournalPosition(
              FormatVersions.number(file, mark, "segment").intValue(),
              FormatVersions.number(file, mark, "offset").longValue(),
              FormatVersions.number(file, mark, "sequence").longValue(),
              FormatVersions.number(file, mark, "epoch").longValue()));
    } catch (NoSuchFileException never) {
      return Optional.empty();
    }
  }
}
