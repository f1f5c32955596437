package io.troupe.config.evaluation;

import io.troupe.config.schema.Blanks;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.engine.SamplingSettings;
import java.util.List;
import java.util.Set;

/** The sampling of an evaluation's completions. */
@Doc("Sampling of an evaluation")
public record EvaluationSampling(
    @Doc("Temperature; 0 always takes the most probable token.") @Default("0") @Range(min = 0)
        double temperature,
    @Doc("Share of the distribution that is kept; 1 keeps all.")
        @Default("1")
        @Range(min = 0, minExclusive = true, max = 1)
        double topP,
    @Doc(value = "Most probable tokens that are kept; 0 keeps all.", unit = "tokens")
        @Default("0")
        @Range(min = 0)
        int topK,
    @Doc("Floor of a token's probability, as a share of the most probable one's; 0 keeps all.")
        @Default("0")
        @Range(min = 0, max = 1)
        double minP,
    @Doc("What logits of repeated tokens are divided by; 1 changes nothing.")
        @Default("1")
        @Range(min = 0, minExclusive = true)
        double repetitionPenalty,
    @Doc(
            value =
                "Most tokens of a completion; 0 means rollout.max_tokens of the run, and 1024 where"
                    + " there is no run.",
            unit = "tokens")
        @Default("0")
        @Range(min = 0, max = 1_000_000)
        int maxTokens,
    @Doc("Texts that end a completion, beside those of the data set and the run.") @Blanks
        List<String> stop) {
  /** Greedy sampling within the limits of the run. */
  public static final EvaluationSampling GREEDY =
      new EvaluationSampling(0, 1, 0, 0, 1, 0, List.of());

  /** Returns these keys with another temperature. */
  public EvaluationSampling withTemperature(double other) {
    return new EvaluationSampling(other, topP, topK, minP, repetitionPenalty, maxTokens, stop);
  }

  /** Returns these keys with another limit of tokens. */
  public EvaluationSampling withMaxTokens(int other) {
    return new EvaluationSampling(temperature, topP, topK, minP, repetitionPenalty, other, stop);
  }

  /**
   * The settings of an engine.
   *
   * @param standardTokens limit where these keys name none
   * @param stopIds ids that end a completion
   * @param moreStops texts that end a completion beside these
   */
  public SamplingSettings settings(
      int standardTokens, Set<Integer> stopIds, List<String> moreStops) {
    return new SamplingSettings(
            temperature,
            topP,
            topK,
            minP,
            repetitionPenalty,
            tokens(standardTokens),
            stopIds,
            moreStops,
            false)
        .within(0, stop);
  }

  /** The limit of tokens. */
  public int tokens(int standardTokens) {
    return maxTokens == 0 ? standardTokens : maxTokens;
  }
}
