package io.troupe.config.binding;

/**
 * One rule that a configuration breaks.
 *
 * @param origin where to look
 * @param key full path, {@code rollout.max_tokens}; empty when the file as a whole is meant
 * @param rule what does not hold, as a predicate: "must be 1 or greater"
 * @param given the value as written, or "nothing"
 * @param advice what to do next, as an imperative
 */
public record ConfigViolation(
    ValueOrigin origin, String key, String rule, String given, String advice) {
  @Override
  public String toString() {
    String subject = key.isEmpty() ? "" : key + ": ";
    return "%s: %s%s, given %s; %s".formatted(origin, subject, rule, given, advice);
  }
}
