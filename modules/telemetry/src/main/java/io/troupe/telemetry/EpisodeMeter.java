package io.troupe.telemetry;

import io.troupe.core.rollout.EpisodeSummary;
import io.troupe.core.rollout.StopReason;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/** Adds up the episodes of a step. */
final class EpisodeMeter {
  private final Map<StopReason, Long> stops = new EnumMap<>(StopReason.class);
  private boolean hasTurns;
  private long episodes;
  private long turns;
  private long toolCalls;
  private long millis;
  private long sampleMillis;
  private long toolMillis;

  void add(EpisodeSummary episode) {
    hasTurns |= episode.hasTurns();
    episodes++;
    turns += episode.turns();
    toolCalls += episode.toolCalls();
    millis += episode.millis();
    sampleMillis += episode.sampleMillis();
    toolMillis += episode.toolMillis();
    stops.merge(episode.stop(), 1L, Long::sum);
  }

  /** Means and shares; empty if each episode was one answer. */
  Optional<StepRow.Episodes> measured() {
    return hasTurns
        ? Optional.of(
            new StepRow.Episodes(
                mean(turns),
                mean(toolCalls),
                mean(millis) / 1000,
                mean(sampleMillis) / 1000,
                mean(toolMillis) / 1000,
                share(StopReason.COMPLETED),
                share(StopReason.TOOL),
                share(StopReason.MAX_TURNS),
                share(StopReason.MAX_TOKENS),
                share(StopReason.MAX_TOOL_CALLS),
                share(StopReason.CONTEXT_OVERFLOW),
                share(StopReason.PARSE_ERROR),
                share(StopReason.TIMEOUT)))
        : Optional.empty();
  }

  private double mean(long sum) {
    return (double) sum / episodes;
  }

  private double share(StopReason stop) {
    return mean(stops.getOrDefault(stop, 0L));
  }
}
