package io.troupe.runtime.prompt;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.engine.SamplingSettings;
import io.troupe.runtime.episode.EpisodeSettings;
import java.util.List;
import java.util.Map;

/**
 * The sampling of completions, by the data set of their prompt.
 *
 * @param general for sources that say nothing of their own
 * @param bySource for the others
 * @param ownLimits most tokens of a completion, of prompts with a limit of their own
 * @param episodes form of the samples of all sources: one answer, or turns with tools
 */
public record SourceSampling(
    SamplingSettings general,
    Map<String, SamplingSettings> bySource,
    Map<PromptId, Integer> ownLimits,
    EpisodeSettings episodes) {
  public SourceSampling {
    bySource = Map.copyOf(bySource);
    ownLimits = Map.copyOf(ownLimits);
  }

  /** Settings that are equal for all sources. */
  public static SourceSampling of(SamplingSettings general) {
    return new SourceSampling(general, Map.of(), Map.of(), new EpisodeSettings.SingleTurn());
  }

  /** Whether all prompts have the same settings. */
  public boolean isUniform() {
    return bySource.isEmpty() && ownLimits.isEmpty();
  }

  /** The settings for completions of a prompt. */
  public SamplingSettings of(Prompt prompt) {
    SamplingSettings settings = bySource.getOrDefault(prompt.source(), general);
    return ownLimits.isEmpty()
        ? settings
        : settings.within(ownLimits.getOrDefault(prompt.id(), 0), List.of());
  }
}
