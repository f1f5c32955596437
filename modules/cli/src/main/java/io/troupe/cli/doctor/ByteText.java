package io.troupe.cli.doctor;

import java.util.Locale;

/** Numbers of bytes for people. */
final class ByteText {
  private static final double GIGABYTE = 1L << 30;

  private ByteText() {}

  static String text(long bytes) {
    return String.format(Locale.ROOT, "%.1f GiB", bytes / GIGABYTE);
  }
}
