package io.troupe.config.schema;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * The reader and writer of one type of value in a scalar's text.
 *
 * @param expectation form that the text must have: "a whole number"
 * @param parse the text's value; empty when the text is none
 * @param render the text of a value, which parses to the same value
 * @param measure number that {@link Range} compares; 0 where it does not apply
 * @param rangeUnit written behind the numbers of a range
 * @param quotable whether the text may be in quotes
 * @param placeholder stands for a value that is wrong, so that checking can continue
 */
public record ScalarType(
    String expectation,
    Function<String, Optional<Object>> parse,
    Function<Object, String> render,
    ToDoubleFunction<Object> measure,
    String rangeUnit,
    boolean quotable,
    Object placeholder) {

  /**
   * Returns the type for a record component of class {@code type}.
   *
   * @throws IllegalStateException if a record uses a class that no scalar stands for
   */
  static ScalarType of(Class<?> type) {
    if (type == int.class || type == Integer.class) {
      return number("a whole number below 2^31", Integer::valueOf, WHOLE, 0);
    } else if (type == long.class) {
      return number("a whole number", Long::valueOf, WHOLE, 0L);
    } else if (type == double.class) {
      return number("a number such as 0.5 or 1e-3", Double::valueOf, DECIMAL, 0.0);
    } else if (type == boolean.class) {
      return new ScalarType(
          "true or false",
          text ->
              Optional.ofNullable(
                  text.equals("true") ? Boolean.TRUE : text.equals("false") ? Boolean.FALSE : null),
          Object::toString,
          _ -> 0,
          "",
          false,
          false);
    } else if (type == String.class) {
      return text("a text", text -> text.isBlank() ? Optional.empty() : Optional.of(text), "");
    } else if (type == Path.class) {
      return text("a path", ScalarType::path, Path.of(""));
    } else if (type == Duration.class) {
      return new ScalarType(
          "a duration such as 250ms, 60s, 5m or 2h",
          text -> Durations.parse(text).map(Function.identity()),
          value -> Durations.render((Duration) value),
          value -> ((Duration) value).toNanos() / 1e9,
          "s",
          false,
          Duration.ZERO);
    } else if (type.isEnum()) {
      return choice(type);
    }
    throw new IllegalStateException("no scalar stands for " + type);
  }

  /** A text that may have no character but blanks. */
  static ScalarType blanks() {
    return text("a text", text -> text.isEmpty() ? Optional.empty() : Optional.of(text), "");
  }

  /** The name of an enum constant in a file: lower case. */
  static String name(Object constant) {
    return ((Enum<?>) constant).name().toLowerCase(Locale.ROOT);
  }

  private static final String WHOLE = "-?(0|[1-9][0-9_]*)";
  private static final String DECIMAL = "[-+]?([0-9][0-9_]*)(\\.[0-9]*)?([eE][-+]?[0-9]+)?";

  private static ScalarType number(
      String expectation, Function<String, Number> valueOf, String pattern, Number placeholder) {
    return new ScalarType(
        expectation,
        text -> {
          if (!text.matches(pattern)) {
            return Optional.empty();
          }
          try {
            Number number = valueOf.apply(text.replace("_", ""));
            return Double.isFinite(number.doubleValue()) ? Optional.of(number) : Optional.empty();
          } catch (NumberFormatException _) {
            return Optional.empty(); // too large for the type
          }
        },
        ScalarType::number,
        value -> ((Number) value).doubleValue(),
        "",
        false,
        placeholder);
  }

  /** The shortest text of a number: 3e-4 rather than Java's 3.0E-4. */
  private static String number(Object value) {
    return value.toString().replace(".0E", "E").replace('E', 'e');
  }

  private static ScalarType text(
      String expectation, Function<String, Optional<Object>> parse, Object placeholder) {
    return new ScalarType(expectation, parse, Object::toString, _ -> 0, "", true, placeholder);
  }

  private static Optional<Object> path(String text) {
    try {
      return text.isBlank() ? Optional.empty() : Optional.of(Path.of(text));
    } catch (InvalidPathException _) {
      return Optional.empty();
    }
  }

  private static ScalarType choice(Class<?> type) {
    Object[] constants = type.getEnumConstants();
    String names = Arrays.stream(constants).map(ScalarType::name).collect(Collectors.joining(", "));
    return new ScalarType(
        constants.length == 1 ? names : "one of " + names,
        text ->
            Arrays.stream(constants).filter(constant -> name(constant).equals(text)).findFirst(),
        ScalarType::name,
        _ -> 0,
        "",
        true,
        constants[0]);
  }
}
