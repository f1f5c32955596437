package io.troupe.runtime.prompt;

import io.troupe.core.prompt.Prompt;
import io.troupe.engine.SamplingSettings;
import io.troupe.runtime.episode.EpisodeSettings;
import java.util.Map;

/**
 * How completions are sampled, by the data set their prompt comes from.
 *
 * @param general for sources that say nothing of their own
 * @param bySource for the others
 * @param episodes what is sampled of all sources: one answer, or turns with tools
 */
public record SourceSampling(
    SamplingSettings general, Map<String, SamplingSettings> bySource, EpisodeSettings episodes) {
  public SourceSampling {
    bySource = Map.copyOf(bySource);
  }

  /** The same for all sources. */
  public static SourceSampling of(SamplingSettings general) {
    return new SourceSampling(general, Map.of(), new EpisodeSettings.SingleTurn());
  }

  /** Whether all prompts have the same settings. */
  public boolean isUniform() {
    return bySource.isEmpty();
  }

  /** The settings for completions of a prompt. */
  public SamplingSettings of(Prompt prompt) {
    return bySource.getOrDefault(prompt.source(), general);
  }
}
