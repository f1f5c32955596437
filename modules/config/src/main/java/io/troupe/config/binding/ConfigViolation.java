package io.troupe.config.binding;

import io.troupe.base.text.SafeText;

/**
 * One rule that a configuration breaks.
 *
 * @param origin place of the value
 * @param key full path, {@code rollout.max_tokens}; empty when the file as a whole is meant
 * @param rule the broken rule, as a predicate: "must be 1 or greater"
 * @param given the value as written, or "nothing"
 * @param advice the next step, as an imperative
 */
public record ConfigViolation(
    ValueOrigin origin, String key, String rule, String given, String advice) {
  static final int LONGEST = 200;

  /** The sentence for the user: one line for a terminal, whatever the file holds. */
  @Override
  public String toString() {
    String subject = key.isEmpty() ? "" : shown(key) + ": ";
    return "%s: %s%s, given %s; %s".formatted(origin, subject, rule, shown(given), advice);
  }

  private static String shown(String text) {
    return SafeText.of(text, LONGEST);
  }
}
