package io.troupe.tasks;

import static io.troupe.core.Require.require;

import java.util.List;

/**
 * The limits of the completions of a source.
 *
 * @param maxTokens of a completion; 0 means the limit of the run
 * @param stop texts that end a completion
 */
public record SourceLimits(int maxTokens, List<String> stop) {
  /** The limits of the run. */
  public static final SourceLimits NONE = new SourceLimits(0, List.of());

  public SourceLimits {
    require(maxTokens >= 0, "the limit of completion tokens is 0 or greater, not %d", maxTokens);
    stop = List.copyOf(stop);
    stop.forEach(each -> require(!each.isEmpty(), "a stop string is not empty"));
  }
}
