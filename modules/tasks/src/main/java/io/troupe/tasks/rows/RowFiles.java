package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Reads the rows of data files. The first bytes of a file decide its format, never its name:
 * Parquet, Arrow IPC (file or stream), a JSON array of objects, or one JSON object a line; the two
 * JSON formats may be compressed by gzip.
 */
public final class RowFiles {
  private static final int HEAD = 8;

  private final RowReader reader;
  private final RowBreaches breaches = new RowBreaches();
  private int number;

  private RowFiles(RowReader reader) {
    this.reader = reader;
  }

  /**
   * Reads files one after the other as one data set, of which every row must be right.
   *
   * @throws TaskDataException if a file is missing or damaged or rows are bad: the message names
   *     all rules that they break, up to 20, with the first rows of each
   * @throws IOException if a file cannot be read
   */
  public static void read(List<Path> files, RowReader reader) throws IOException {
    read(files, RefusalLimit.NONE, reader);
  }

  /**
   * Reads files one after the other as one data set.
   *
   * @return the rows that were refused
   * @throws TaskDataException if a file is missing or damaged, or more rows are bad than the limit
   *     allows: the message names all rules that they break, up to 20, with the first rows of each
   * @throws IOException if a file cannot be read
   */
  public static RefusedRows read(List<Path> files, RefusalLimit limit, RowReader reader)
      throws IOException {
    RowFiles rows = new RowFiles(reader);
    for (Path file : files) {
      rows.read(file);
    }
    RefusedRows refused = rows.breaches.refused(rows.number);
    if (!limit.allows(refused.count(), refused.rows())) {
      throw new TaskDataException(RowBreaches.report(place(files), refused, limit));
    }
    return refused;
  }

  private static String place(List<Path> files) {
    Path first = files.getFirst();
    return String.valueOf(files.size() == 1 ? first : first.toAbsolutePath().getParent());
  }

  /** Hands a row to the reader; {@code place} is file and line. */
  void row(String place, ObjectNode fields) {
    try {
      reader.read(new Row(number++, place, fields));
    } catch (RowException bad) {
      breaches.add(place, bad);
    }
  }

  /** Records a row that could not be parsed. */
  void breach(String place, String what) {
    number++;
    breaches.add(place, what);
  }

  private void read(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new TaskDataException(
          "%s: the data file %s; give the path of a file, relative ones from %s"
              .formatted(
                  file,
                  Files.exists(file) ? "is no regular file" : "does not exist",
                  Path.of("").toAbsolutePath()));
    }
    switch (Form.of(head(file))) {
      case PARQUET -> ParquetRows.read(file, this);
      case ARROW_FILE, ARROW_STREAM -> ArrowRows.read(file, this);
      case GZIP -> unpack(file);
      case TEXT -> {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
          JsonRows.read(file, in, this);
        }
      }
    }
  }

  private void unpack(Path file) throws IOException {
    try (InputStream raw = Files.newInputStream(file);
        InputStream in = new BufferedInputStream(new GZIPInputStream(raw, 1 << 16), 1 << 16)) {
      JsonRows.read(file, in, this);
    } catch (EOFException | ZipException e) {
      throw new TaskDataException(
          "%s: the gzip file is damaged or cut off (%s); fetch it again"
              .formatted(file, e.getMessage()));
    }
  }

  private static byte[] head(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(HEAD);
    }
  }

  /** The format of a file according to its first bytes. */
  private enum Form {
    PARQUET("PAR1"),
    ARROW_FILE("ARROW1"),
    ARROW_STREAM("\u00ff\u00ff\u00ff\u00ff"),
    GZIP("\u001f\u008b"),
    TEXT("");

    private final String magic;

    Form(String magic) {
      this.magic = magic;
    }

    static Form of(byte[] head) {
      for (Form form : values()) {
        if (form.opens(head)) {
          return form;
        }
      }
      throw new IllegalStateException("every file opens with nothing");
    }

    private boolean opens(byte[] head) {
      for (int i = 0; i < magic.length(); i++) {
        if (i >= head.length || (head[i] & 0xff) != magic.charAt(i)) {
          return false;
        }
      }
      return true;
    }
  }
}
