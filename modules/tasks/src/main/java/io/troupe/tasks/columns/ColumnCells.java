package io.troupe.tasks.columns;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Period;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * The JSON values of the cells of one column, the same for every binary format: dates, times and
 * durations are ISO 8601 texts as Python's {@code isoformat} writes them, bytes are text if they
 * are UTF-8.
 *
 * @param file of the column, for messages
 * @param name of the column, with those that it lies in
 */
record ColumnCells(String file, String name) {
  private static final int NANOS_OF_MICRO = 1_000;
  private static final long NANOS_OF_SECOND = 1_000_000_000;
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss");

  /** The day 1970-01-01 as a Julian day, which the oldest timestamps of Parquet count in. */
  private static final long JULIAN_EPOCH = 2_440_588;

  /** Returns the cells of a member of this column. */
  ColumnCells member(String member) {
    return new ColumnCells(file, name.isEmpty() ? member : name + "." + member);
  }

  /** Returns a cell that cannot be read, and why as a predicate: "is of type X". */
  JsonNode unreadable(String predicate) {
    return new UnreadableCell(
        "%s: the column \"%s\" %s, and cannot be read; leave it out of task and rows, or write it as another type"
            .formatted(file, name, predicate));
  }

  JsonNode date(long days) {
    return dated(() -> LocalDate.ofEpochDay(days).toString());
  }

  /** Returns a time of day. */
  JsonNode time(long value, long perSecond) {
    return dated(
        () -> clock(LocalTime.ofNanoOfDay(Math.multiplyExact(value, NANOS_OF_SECOND / perSecond))));
  }

  /** Returns a date and a time that belong to no time zone. */
  JsonNode timestamp(long value, long perSecond) {
    return dated(() -> local(LocalDateTime.ofInstant(instant(value, perSecond), ZoneOffset.UTC)));
  }

  /** Returns a moment as the clocks of a zone show it, with their distance from UTC. */
  JsonNode timestamp(long value, long perSecond, String zone) {
    return dated(
        () -> {
          var moment = instant(value, perSecond).atZone(ZoneId.of(zone));
          String offset = moment.getOffset().getId();
          return local(moment.toLocalDateTime()) + (offset.equals("Z") ? "+00:00" : offset);
        });
  }

  /** Returns a timestamp of 96 bits: the nanoseconds of the day, then the Julian day. */
  JsonNode timestamp96(byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    return dated(
        () ->
            local(
                LocalDate.ofEpochDay(buffer.getInt(8) - JULIAN_EPOCH)
                    .atStartOfDay()
                    .plusNanos(buffer.getLong(0))));
  }

  JsonNode duration(long value, long perSecond) {
    return text(between(value, perSecond).toString());
  }

  JsonNode interval(int months, int days, long nanos) {
    Period period = Period.of(months / 12, months % 12, days);
    Duration rest = Duration.ofNanos(nanos);
    if (rest.isZero()) {
      return text(period.toString());
    }
    return text((period.isZero() ? "P" : period.toString()) + rest.toString().substring(1));
  }

  JsonNode uuid(byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return text(new UUID(buffer.getLong(), buffer.getLong()).toString());
  }

  /** Returns a number whose digits are a whole number, and so many of them behind the point. */
  JsonNode decimal(BigInteger digits, int scale) {
    return CellNodes.decimal(new BigDecimal(digits, scale));
  }

  JsonNode text(byte[] bytes) {
    try {
      return text(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException _) {
      return unreadable("holds bytes that are no UTF-8 text");
    }
  }

  /** Returns the value that a cell holds as JSON text. */
  JsonNode json(byte[] bytes) {
    try {
      JsonNode value = CellJson.MAPPER.readTree(bytes);
      return value instanceof MissingNode ? unreadable("holds no JSON") : value;
    } catch (JsonProcessingException broken) {
      return unreadable("holds broken JSON (%s)".formatted(broken.getOriginalMessage()));
    } catch (IOException broken) {
      return unreadable("holds broken JSON (%s)".formatted(broken.getMessage()));
    }
  }

  private JsonNode dated(Supplier<String> text) {
    try {
      return text(text.get());
    } catch (DateTimeException | ArithmeticException outside) {
      return unreadable("holds no date or time (%s)".formatted(outside.getMessage()));
    }
  }

  private static JsonNode text(String text) {
    return CellNodes.INSTANCE.textNode(text);
  }

  private static String local(LocalDateTime at) {
    return at.toLocalDate() + "T" + clock(at.toLocalTime());
  }

  /** Python's {@code isoformat}: no fraction, microseconds, or nanoseconds. */
  private static String clock(LocalTime time) {
    String whole = TIME.format(time);
    int nanos = time.get(ChronoField.NANO_OF_SECOND);
    if (nanos == 0) {
      return whole;
    }
    return nanos % NANOS_OF_MICRO == 0
        ? whole + ".%06d".formatted(nanos / NANOS_OF_MICRO)
        : whole + ".%09d".formatted(nanos);
  }

  private static Instant instant(long value, long perSecond) {
    return Instant.EPOCH.plus(between(value, perSecond));
  }

  private static Duration between(long value, long perSecond) {
    return Duration.ofSeconds(
        Math.floorDiv(value, perSecond),
        Math.floorMod(value, perSecond) * (NANOS_OF_SECOND / perSecond));
  }
}
