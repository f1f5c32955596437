package io.troupe.config.schema;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: a number and its unit. */
final class Durations {
  private static final Pattern TEXT = Pattern.compile("([0-9]{1,13}(?:\\.[0-9]{1,9})?)(ms|s|m|h)");

  private Durations() {}

  static Optional<Duration> parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    BigDecimal nanos =
        new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(nanos(matcher.group(2))));
    return nanos.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0
        ? Optional.empty()
        : Optional.of(Duration.ofNanos(nanos.longValue()));
  }

  /** In the largest unit that needs no fraction. */
  static String render(Duration duration) {
    for (String unit : new String[] {"h", "m", "s"}) {
      if (!duration.isZero() && duration.toNanos() % nanos(unit) == 0) {
        return duration.toNanos() / nanos(unit) + unit;
      }
    }
    return BigDecimal.valueOf(duration.toNanos(), 6).stripTrailingZeros().toPlainString() + "ms";
  }

  private static long nanos(String unit) {
    return switch (unit) {
      case "ms" -> 1_000_000L;
      case "s" -> 1_000_000_000L;
      case "m" -> 60_000_000_000L;
      default -> 3_600_000_000_000L;
    };
  }
}
