package io.troupe.tasks.columns;

import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.TimeUnit;

/** What the metadata of an Arrow field says. */
final class ArrowFields {
  /** The extension type of JSON stored as text, which {@code datasets} calls {@code Json}. */
  static final String JSON = "arrow.json";

  static final String UUID = "arrow.uuid";
  static final String BOOL8 = "arrow.bool8";
  static final String VARIANT = "arrow.parquet.variant";
  private static final String EXTENSION = "ARROW:extension:name";

  private ArrowFields() {}

  /** Returns the name of the field's extension type; empty if it has none. */
  static String extension(Field field) {
    for (int i = 0; i < field.customMetadataLength(); i++) {
      KeyValue entry = field.customMetadata(i);
      if (EXTENSION.equals(entry.key())) {
        return String.valueOf(entry.value());
      }
    }
    return "";
  }

  /** Returns how many of a unit make a second. */
  static long perSecond(short unit) {
    return switch (unit) {
      case TimeUnit.SECOND -> 1;
      case TimeUnit.MILLISECOND -> 1_000;
      case TimeUnit.MICROSECOND -> 1_000_000;
      case TimeUnit.NANOSECOND -> 1_000_000_000;
      default -> throw new IllegalArgumentException("times have the unknown unit " + unit);
    };
  }
}
