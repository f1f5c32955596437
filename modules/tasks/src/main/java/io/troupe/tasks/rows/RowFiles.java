package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.luben.zstd.ZstdIOException;
import com.github.luben.zstd.ZstdInputStream;
import io.troupe.base.failure.Causes;
import io.troupe.tasks.columns.ArrowRows;
import io.troupe.tasks.columns.ColumnException;
import io.troupe.tasks.columns.ParquetRows;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Reads the rows of data files, as their {@link FileForm} says: Parquet, Arrow IPC (file or
 * stream), a JSON array of objects, one JSON object a line, CSV or TSV; texts may be compressed by
 * gzip or zstd.
 */
public final class RowFiles {
  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

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
    return rows.breaches.refused(rows.number).within(limit, place(files));
  }

  /** Returns where a data set is: its file, or the folder of its files. */
  public static String place(List<Path> files) {
    Path first = files.getFirst();
    return String.valueOf(files.size() == 1 ? first : first.toAbsolutePath().getParent());
  }

  /** Hands a row to the reader; {@code place} is file and line. */
  void row(String place, ObjectNode fields) {
    try {
      reader.read(new Row(number++, place, fields));
    } catch (RowException bad) {
      breaches.add(place, bad);
    } catch (RuntimeException failure) {
      // The library that writes a row as text wraps the refusal of a cell within it.
      throw Causes.root(failure) instanceof ColumnException refused ? refused : failure;
    }
  }

  /** Records a row that could not be parsed. */
  void breach(String place, String what) {
    number++;
    breaches.add(place, what);
  }

  private void read(Path file) throws IOException {
    try {
      open(file);
    } catch (ColumnException refused) {
      throw new TaskDataException(Causes.message(refused));
    }
  }

  private void open(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new TaskDataException(
          "%s: the data file %s; give the path of a file, relative ones from %s"
              .formatted(
                  file,
                  Files.exists(file) ? "is no regular file" : "does not exist",
                  Path.of("").toAbsolutePath()));
    }
    String name = file.getFileName().toString();
    FileForm form = FileForm.of(head(file), name);
    switch (form) {
      case PARQUET -> ParquetRows.read(file, this::row);
      case ARROW_FILE, ARROW_STREAM -> ArrowRows.read(file, this::row);
      case GZIP, ZSTD -> unpack(file, form);
      default -> {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
          text(file, form, in);
        }
      }
    }
  }

  /** Reads the rows of a file of text; {@code in} supports marks. */
  private void text(Path file, FileForm form, InputStream in) throws IOException {
    if (!form.refusal().isEmpty()) {
      throw new TaskDataException("%s %s".formatted(file, form.refusal()));
    }
    in.mark(BYTE_ORDER_MARK.length);
    if (!Arrays.equals(in.readNBytes(BYTE_ORDER_MARK.length), BYTE_ORDER_MARK)) {
      in.reset();
    }
    switch (form) {
      case CSV -> CsvRows.read(file, in, ',', this);
      case TSV -> CsvRows.read(file, in, '\t', this);
      default -> JsonRows.read(file, in, this);
    }
  }

  private void unpack(Path file, FileForm packing) throws IOException {
    try (InputStream raw = Files.newInputStream(file);
        InputStream in =
            new BufferedInputStream(
                packing == FileForm.GZIP
                    ? new GZIPInputStream(raw, 1 << 16)
                    : new ZstdInputStream(raw),
                1 << 16)) {
      in.mark(FileForm.HEAD);
      byte[] head = in.readNBytes(FileForm.HEAD);
      in.reset();
      FileForm form = FileForm.of(head, file.getFileName().toString());
      switch (form) {
        case PARQUET, ARROW_FILE, ARROW_STREAM, GZIP, ZSTD ->
            throw new TaskDataException(
                "%s is a packed file within a packed file, which cannot be read; unpack it once"
                    .formatted(file));
        default -> text(file, form, in);
      }
    } catch (EOFException | ZipException | ZstdIOException e) {
      throw new TaskDataException(
          "%s: the %s file is damaged or cut off (%s); fetch it again"
              .formatted(file, packing == FileForm.GZIP ? "gzip" : "zstd", e.getMessage()));
    }
  }

  private static byte[] head(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(FileForm.HEAD);
    }
  }
}
