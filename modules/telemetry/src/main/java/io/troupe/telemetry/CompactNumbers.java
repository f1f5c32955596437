package io.troupe.telemetry;

import java.util.Locale;

/** Numbers as short texts whose width is bounded, whatever the value. */
final class CompactNumbers {
  private static final String SUFFIXES = "kMGTP";
  private static final double BEYOND_SUFFIXES = 1e18;

  private CompactNumbers() {}

  /** A count in at most 5 characters (6 when negative): 212, 12.3k, 1.2M, 3e+21. */
  static String count(double value) {
    if (!Double.isFinite(value)) {
      return special(value);
    }
    double magnitude = Math.abs(value);
    if (magnitude < 999.5) {
      return format("%.0f", value);
    }
    if (magnitude >= BEYOND_SUFFIXES * 0.9995) {
      return format("%.0e", value);
    }
    double scaled = value;
    int suffix = -1;
    // 999.5 would be rounded to 1000, so it belongs to the next suffix already.
    while (Math.abs(scaled) >= 999.5) {
      scaled /= 1000;
      suffix++;
    }
    return format(Math.abs(scaled) < 99.95 ? "%.1f" : "%.0f", scaled) + SUFFIXES.charAt(suffix);
  }

  /**
   * A number with up to {@code decimals} decimals, as a count when it is too large for them, and in
   * scientific notation when it is too small for its decimals.
   */
  static String decimal(double value, int decimals) {
    if (!Double.isFinite(value)) {
      return special(value);
    }
    double magnitude = Math.abs(value);
    if (magnitude > 0 && magnitude < 0.5 * Math.pow(10, -decimals)) {
      return format("%.0e", value);
    }
    double limit = 10;
    for (int places = decimals; places >= 0 && limit <= 1000; places--) {
      // Another digit in front costs one behind, so that the width stays.
      if (magnitude < limit - 0.5 * Math.pow(10, -places)) {
        return format("%." + places + "f", value);
      }
      limit *= 10;
    }
    return count(value);
  }

  /** A share as a percentage of at most 6 characters: 0.2%, 100.0%. */
  static String percent(double share, int decimals) {
    double percent = 100 * share;
    if (!Double.isFinite(percent)) {
      return special(percent);
    }
    return (Math.abs(percent) < 999.5 ? format("%." + decimals + "f", percent) : count(percent))
        + "%";
  }

  /** A duration in at most 6 characters: 41.2s, 3m20s, 2h14m, 12d03h. */
  static String duration(double seconds) {
    if (!Double.isFinite(seconds)) {
      return special(seconds);
    }
    if (seconds < 99.95) {
      return format("%.1fs", seconds);
    }
    long whole = Math.round(seconds);
    if (whole < 6000) {
      return format("%dm%02ds", whole / 60, whole % 60);
    }
    long minutes = whole / 60;
    if (minutes < 6000) {
      return format("%dh%02dm", minutes / 60, minutes % 60);
    }
    long hours = minutes / 60;
    return hours < 2400 ? format("%dd%02dh", hours / 24, hours % 24) : count(hours / 24.0) + "d";
  }

  private static String special(double value) {
    if (Double.isNaN(value)) {
      return "–";
    }
    return value > 0 ? "inf" : "-inf";
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
