package io.troupe.verifiers;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The options of a verifier as text, read by name. A reader calls {@link #refuseOthers} last, so
 * that a misspelt option is an error and not a default. {@link ThoughtReading#OPTION} is an option
 * of every verifier.
 */
public final class VerifierOptions {
  private final Map<String, String> values;
  private final int workers;
  private final TreeSet<String> known = new TreeSet<>(Set.of(ThoughtReading.OPTION));

  /**
   * The given options.
   *
   * @param workers number of verifications that run at a time, for verifiers that allocate
   *     resources for each
   */
  public VerifierOptions(Map<String, String> values, int workers) {
    this.values = new LinkedHashMap<>(values);
    this.workers = workers;
  }

  /** Returns the number of verifications that run at a time. */
  public int workers() {
    return workers;
  }

  /** The text of an option, if it is given. */
  public Optional<String> text(String key) {
    known.add(key);
    return Optional.ofNullable(values.get(key));
  }

  /** {@code true} or {@code false}. */
  public boolean flag(String key, boolean otherwise) {
    return read(
        key,
        "true or false",
        otherwise,
        text ->
            switch (text) {
              case "true" -> true;
              case "false" -> false;
              default -> throw new IllegalArgumentException(text);
            });
  }

  /** A whole number of at least {@code least}. */
  public int integer(String key, int otherwise, int least) {
    return read(
        key,
        "a whole number, %d or greater".formatted(least),
        otherwise,
        text -> {
          int number = Integer.parseInt(text);
          if (number < least) {
            throw new IllegalArgumentException(text);
          }
          return number;
        });
  }

  /** A number from {@code least} to {@code most}. */
  public double number(String key, double otherwise, double least, double most) {
    return read(
        key,
        "a number from %s to %s".formatted(least, most),
        otherwise,
        text -> {
          double number = Double.parseDouble(text);
          if (!(number >= least && number <= most)) {
            throw new IllegalArgumentException(text);
          }
          return number;
        });
  }

  /** A duration such as {@code 5s}, {@code 250ms} or {@code 2m}; longer than zero. */
  public Duration duration(String key, Duration otherwise) {
    return read(key, "a time such as 5s, 250ms or 2m", otherwise, VerifierOptions::durationOf);
  }

  /**
   * Returns the constant of an enum that an option names, in lower case with {@code -} for {@code
   * _}.
   */
  public <E extends Enum<E>> E choice(String key, E otherwise) {
    List<E> constants = List.of(otherwise.getDeclaringClass().getEnumConstants());
    List<String> names = constants.stream().map(VerifierOptions::nameOf).toList();
    return read(
        key,
        "one of " + String.join(", ", names),
        otherwise,
        text -> named(constants, names, text));
  }

  private static <E> E named(List<E> constants, List<String> names, String text) {
    int at = names.indexOf(text.toLowerCase(Locale.ROOT).replace('_', '-'));
    if (at < 0) {
      throw new IllegalArgumentException(text);
    }
    return constants.get(at);
  }

  /** What the verifier is shown of a completion that thinks. */
  public ThoughtReading thoughts(ThoughtReading otherwise) {
    return choice(ThoughtReading.OPTION, otherwise);
  }

  /** Words separated by commas, white space around them removed, in order. */
  public List<String> words(String key, List<String> otherwise) {
    return text(key)
        .map(text -> Arrays.stream(text.split(",", -1)).map(String::strip).toList())
        .orElse(otherwise);
  }

  /**
   * Ends the reading.
   *
   * @throws IllegalArgumentException if an option was given that was never read
   */
  public void refuseOthers(String verifier) {
    for (String key : values.keySet()) {
      if (!known.contains(key)) {
        throw new IllegalArgumentException(
            "verifier %s has no option '%s'; it takes %s"
                .formatted(verifier, key, String.join(", ", known)));
      }
    }
  }

  private <T> T read(String key, String rule, T otherwise, Function<String, T> parse) {
    Optional<String> text = text(key);
    if (text.isEmpty()) {
      return otherwise;
    }
    try {
      return parse.apply(text.get().strip());
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(
          "option '%s' must be %s, not '%s'".formatted(key, rule, text.get()), wrong);
    }
  }

  private static Duration durationOf(String text) {
    int unit = 0;
    while (unit < text.length() && !Character.isLetter(text.charAt(unit))) {
      unit++;
    }
    double number = Double.parseDouble(text.substring(0, unit).strip());
    double seconds =
        switch (text.substring(unit)) {
          case "ms" -> number / 1000;
          case "s" -> number;
          case "m" -> number * 60;
          default -> throw new IllegalArgumentException(text);
        };
    long millis = Math.round(seconds * 1000);
    if (millis <= 0) {
      throw new IllegalArgumentException(text);
    }
    return Duration.ofMillis(millis);
  }

  private static String nameOf(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
