package io.troupe.aws.container;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.troupe.store.file.StoreJson;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The hyperparameters of a job: the text of the configuration, in pieces, and the assignments over
 * it. SageMaker takes 100 of them, of 2,500 characters each without line ends; so a piece is a
 * string of JSON.
 *
 * @param config text of the configuration
 * @param assignments over it, value by key
 */
public record JobParameters(String config, Map<String, String> assignments) {
  private static final int MOST = 100;
  private static final int LONGEST = 2_500;

  /** Every character of a text may take six in JSON. */
  private static final int SHORTEST_PIECE = LONGEST / 6 - 1;

  private static final String PIECE = "config_";

  public JobParameters {
    assignments = Map.copyOf(assignments);
  }

  /**
   * The hyperparameters.
   *
   * @throws IllegalArgumentException if SageMaker does not take that many
   */
  public Map<String, String> hyperparameters() {
    Map<String, String> all = new LinkedHashMap<>();
    int at = 0;
    while (at < config.length()) {
      int end = Math.min(config.length(), at + LONGEST - 2);
      String quoted = quoted(config.substring(at, end));
      while (quoted.length() > LONGEST) {
        end = Math.max(at + SHORTEST_PIECE, end - (quoted.length() - LONGEST) / 6 - 1);
        if (Character.isHighSurrogate(config.charAt(end - 1))) {
          end--;
        }
        quoted = quoted(config.substring(at, end));
      }
      all.put("%s%02d".formatted(PIECE, all.size()), quoted);
      at = end;
    }
    new TreeMap<>(assignments)
        .forEach(
            (key, value) -> {
              require(
                  value.length() <= LONGEST && key.length() <= 256 && value.indexOf('\n') < 0,
                  "%s is too long for a hyperparameter (%d of %d characters); put it into the"
                      + " configuration",
                  key,
                  value.length(),
                  LONGEST);
              all.put(key, value);
            });
    require(
        all.size() <= MOST,
        "the configuration needs %d hyperparameters, and SageMaker takes %d; shorten it",
        all.size(),
        MOST);
    return all;
  }

  /** Reads the hyperparameters of a job. */
  static JobParameters parse(Map<String, String> hyperparameters) {
    StringBuilder config = new StringBuilder();
    Map<String, String> assignments = new LinkedHashMap<>();
    new TreeMap<>(hyperparameters)
        .forEach(
            (key, value) -> {
              if (key.startsWith(PIECE)) {
                config.append(unquoted(key, value));
              } else {
                assignments.put(key, value);
              }
            });
    require(
        !config.isEmpty(),
        "hyperparameters.json has no %s00; the job was not submitted by troupe sagemaker submit",
        PIECE);
    return new JobParameters(config.toString(), assignments);
  }

  private static String quoted(String text) {
    try {
      return StoreJson.LINE.writeValueAsString(text);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static String unquoted(String key, String value) {
    try {
      return StoreJson.LINE.readValue(value, String.class);
    } catch (JsonProcessingException other) {
      throw new IllegalArgumentException(
          "hyperparameter %s must be a string of JSON, not %s".formatted(key, value), other);
    }
  }
}
