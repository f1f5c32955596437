package io.troupe.store.journal;

import io.troupe.base.files.DurableFiles;
import io.troupe.store.segment.Segment;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** Replaces a segment file by a gzip file of the same content. */
final class SegmentCompression {
  /** The pattern of files that a crash leaves. */
  static final String LEFTOVERS = ".*.journal.gz.tmp-*";

  private static final int BUFFER_BYTES = 1 << 16;

  private SegmentCompression() {}

  /**
   * Compresses beside, fsyncs, reads it back, renames, and only then deletes the plain file. One
   * that is stopped leaves the segment as it was.
   */
  static void replace(Segment segment, JournalArchive.Stop stop) throws IOException {
    Path compressed = segment.compressedFile();
    String random = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
    Path next = compressed.resolveSibling(".%s.tmp-%s".formatted(compressed.getFileName(), random));
    try {
      if (write(segment.file(), next, stop)) {
        DurableFiles.syncFile(next);
        check(next, Files.size(segment.file()));
        DurableFiles.rename(next, compressed);
        Files.delete(segment.file());
      }
    } finally {
      Files.deleteIfExists(next);
    }
  }

  private static boolean write(Path from, Path to, JournalArchive.Stop stop) throws IOException {
    byte[] buffer = new byte[BUFFER_BYTES];
    try (InputStream in = Files.newInputStream(from);
        OutputStream out =
            new GZIPOutputStream(
                Files.newOutputStream(to, StandardOpenOption.CREATE_NEW), BUFFER_BYTES)) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (stop.asked()) {
          return false;
        }
        out.write(buffer, 0, read);
      }
    }
    return true;
  }

  /** Reading a gzip file to its end checks its content against its checksum. */
  private static void check(Path file, long bytes) throws IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
      long found = in.transferTo(OutputStream.nullOutputStream());
      if (found != bytes) {
        throw new IOException("%s holds %d bytes instead of %d".formatted(file, found, bytes));
      }
    }
  }
}
