package io.troupe.tasks;

import static io.troupe.core.Require.require;

import java.util.List;

/**
 * What a source allows its completions.
 *
 * @param maxTokens of a completion; 0 means what the run allows
 * @param stop texts that end a completion
 */
public record SourceLimits(int maxTokens, List<String> stop) {
  /** Whatever the run allows. */
  public static final SourceLimits NONE = new SourceLimits(0, List.of());

  public SourceLimits {
    require(maxTokens >= 0, "the limit of completion tokens is 0 or greater, not %d", maxTokens);
    stop = List.copyOf(stop);
    stop.forEach(each -> require(!each.isEmpty(), "a stop string is not empty"));
  }
}
