package io.troupe.tasks;

import static io.troupe.core.Require.require;

import io.troupe.chat.TurnEnd;
import io.troupe.engine.SamplingSettings;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The limits of the completions of a source.
 *
 * @param maxTokens of a completion; 0 means the limit of the run
 * @param stop texts that end a completion
 * @param stopIds ids that end a completion, beside the checkpoint's own
 */
public record SourceLimits(int maxTokens, List<String> stop, Set<Integer> stopIds) {
  /** The limits of the run. */
  public static final SourceLimits NONE = new SourceLimits(0, List.of(), Set.of());

  public SourceLimits {
    require(maxTokens >= 0, "the limit of completion tokens is 0 or greater, not %d", maxTokens);
    stop = List.copyOf(stop);
    stopIds = Set.copyOf(stopIds);
    stop.forEach(each -> require(!each.isEmpty(), "a stop string is not empty"));
  }

  /** Returns the sampling of a run within these limits. */
  public SamplingSettings of(SamplingSettings general) {
    return general.within(maxTokens, stop).stoppingAt(stopIds);
  }

  /** Returns these limits with the end of a policy's turns. */
  SourceLimits ending(TurnEnd end) {
    List<String> texts = Stream.concat(stop.stream(), end.stops().stream()).distinct().toList();
    return new SourceLimits(maxTokens, texts, end.stopIds());
  }
}
