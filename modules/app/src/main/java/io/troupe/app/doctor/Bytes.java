package io.troupe.app.doctor;

import java.util.Locale;

/** Numbers of bytes for people. */
final class Bytes {
  private static final double GIGABYTE = 1L << 30;

  private Bytes() {}

  static String text(long bytes) {
    return String.format(Locale.ROOT, "%.1f GiB", bytes / GIGABYTE);
  }
}
