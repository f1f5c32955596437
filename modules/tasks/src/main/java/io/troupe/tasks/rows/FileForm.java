package io.troupe.tasks.rows;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** The format of a data file: its first bytes decide, and its name only where they say nothing. */
enum FileForm {
  PARQUET("PAR1", ""),
  ARROW_FILE("ARROW1", ""),
  ARROW_STREAM("\u00ff\u00ff\u00ff\u00ff", ""),
  GZIP("\u001f\u008b", ""),
  ZSTD("(\u00b5/\u00fd", ""),
  CSV("", ""),
  TSV("", ""),
  JSON("", ""),
  ENCRYPTED("PARE", "is an encrypted Parquet file; decrypt it"),
  FEATHER("FEA1", "is a Feather file of version 1; write it as Feather of version 2 or Parquet"),
  ORC("ORC", "is an ORC file; write it as Parquet"),
  AVRO("Obj\u0001", "is an Avro file; write it as Parquet"),
  HDF5("\u0089HDF", "is an HDF5 file; write it as Parquet"),
  ZIP("PK\u0003\u0004", "is a zip archive; unpack it"),
  XZ("\u00fd7zXZ", "is packed by xz; unpack it, or pack it by gzip"),
  BZIP2("BZh", "is packed by bzip2; unpack it, or pack it by gzip"),
  LZ4("\u0004\"M\u0018", "is packed by lz4; unpack it, or pack it by gzip"),
  UTF16_LITTLE("\u00ff\u00fe", "is UTF-16 text; write it as UTF-8"),
  UTF16_BIG("\u00fe\u00ff", "is UTF-16 text; write it as UTF-8"),
  PARQUET_NAME(
      "", "is no Parquet file, which begins with PAR1, so it is damaged; fetch or write it again"),
  ARROW_NAME(
      "", "is no Arrow file, which begins with ARROW1, so it is damaged; fetch or write it again");

  /** The bytes that decide. */
  static final int HEAD = 8;

  private static final List<String> PACKED = List.of(".gz", ".zst", ".zstd");

  private final String magic;
  private final String refusal;

  FileForm(String magic, String refusal) {
    this.magic = magic;
    this.refusal = refusal;
  }

  /** Returns why a file of this format is refused, and the remedy; empty if it is read. */
  String refusal() {
    return refusal;
  }

  /**
   * Returns the format of a file.
   *
   * @param head its first bytes
   */
  static FileForm of(byte[] head, String fileName) {
    String text = new String(head, StandardCharsets.ISO_8859_1);
    for (FileForm form : values()) {
      if (!form.magic.isEmpty() && text.startsWith(form.magic)) {
        return form;
      }
    }
    String name = fileName.toLowerCase(Locale.ROOT);
    for (String packed : PACKED) {
      name = name.endsWith(packed) ? name.substring(0, name.length() - packed.length()) : name;
    }
    return switch (name.substring(name.lastIndexOf('.') + 1)) {
      case "csv" -> CSV;
      case "tsv" -> TSV;
      case "parquet" -> PARQUET_NAME;
      case "arrow", "feather" -> ARROW_NAME;
      default -> JSON;
    };
  }
}
