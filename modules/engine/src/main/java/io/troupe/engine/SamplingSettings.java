package io.troupe.engine;

import static io.troupe.core.Require.require;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The sampling of tokens, and the end of a completion.
 *
 * <p>A token's distribution is made in this order: logits of tokens that prompt or completion hold
 * already are weakened by the repetition penalty; logits are divided by the temperature; of the
 * softmax, tokens below the floor of min-p are removed, then all but the k most probable, then all
 * but the fewest most probable whose share of the remaining probability reaches top-p; the
 * remaining probabilities are renormalised. Of equally probable tokens the smaller id ranks first.
 * The log-probability of a token is its log-probability under the resulting distribution, from
 * which the token was really sampled.
 *
 * @param temperature logits are divided by it; 0 means the most probable token, whose
 *     log-probability is that of temperature 1
 * @param topP share of the distribution to keep, in (0, 1]; 1 keeps all
 * @param topK number of tokens to keep; 0 keeps all
 * @param minP floor of a token's probability, relative to the most probable one's, in [0, 1]; 0
 *     keeps all
 * @param repetitionPenalty a logit above 0 is divided by it, one below multiplied (Keskar et al.
 *     2019); 1 changes nothing
 * @param maxTokens most tokens of a completion, the stop token included; a context with less room
 *     left ends it earlier
 * @param stopIds ids that end a completion, besides the tokenizer's; the id is kept
 * @param stops texts that end a completion, found across tokens; the token that completes one is
 *     kept
 * @param rawLogProbs whether completions also carry the log-probabilities of the bare logits, at
 *     temperature 1 and with nothing left out
 */
public record SamplingSettings(
    double temperature,
    double topP,
    int topK,
    double minP,
    double repetitionPenalty,
    int maxTokens,
    Set<Integer> stopIds,
    List<String> stops,
    boolean rawLogProbs) {
  public SamplingSettings {
    require(
        temperature >= 0 && Double.isFinite(temperature),
        "a sampling temperature is 0 or greater, not %s",
        temperature);
    require(topP > 0 && topP <= 1, "top_p lies in (0, 1], not %s; 1 keeps all tokens", topP);
    require(topK >= 0, "top_k is 0 or greater, not %d; 0 keeps all tokens", topK);
    require(minP >= 0 && minP <= 1, "min_p lies in [0, 1], not %s; 0 keeps all tokens", minP);
    require(
        repetitionPenalty > 0 && Double.isFinite(repetitionPenalty),
        "a repetition penalty is a finite number greater than 0, not %s; 1 means none",
        repetitionPenalty);
    require(maxTokens >= 1, "a completion may have at least one token, not %d", maxTokens);
    stopIds = Set.copyOf(stopIds);
    stops = List.copyOf(stops);
    require(stops.stream().noneMatch(String::isEmpty), "a stop string has at least one character");
  }

  /** Plain sampling from the policy at a temperature. */
  public SamplingSettings(double temperature, int maxTokens) {
    this(temperature, 1, 0, 0, 1, maxTokens, Set.of(), List.of(), false);
  }

  /** Greedy sampling: always the most probable token. */
  public static SamplingSettings greedy(int maxTokens) {
    return new SamplingSettings(0, maxTokens);
  }

  /**
   * Returns these settings with a smaller limit of tokens and more stop strings.
   *
   * @param most tokens of a completion, if fewer; 0 means no limit of its own
   * @param moreStops further texts that end a completion
   */
  public SamplingSettings within(int most, List<String> moreStops) {
    return ending(
        most == 0 ? maxTokens : Math.min(most, maxTokens),
        stopIds,
        Stream.concat(stops.stream(), moreStops.stream()).distinct().toList());
  }

  /** Returns these settings with more ids that end a completion. */
  public SamplingSettings stoppingAt(Set<Integer> more) {
    return ending(
        maxTokens,
        Stream.concat(stopIds.stream(), more.stream()).collect(Collectors.toUnmodifiableSet()),
        stops);
  }

  /** Returns these settings with these stop strings alone. */
  public SamplingSettings withStops(List<String> texts) {
    return ending(maxTokens, stopIds, texts);
  }

  private SamplingSettings ending(int tokens, Set<Integer> ids, List<String> texts) {
    return new SamplingSettings(
        temperature, topP, topK, minP, repetitionPenalty, tokens, ids, texts, rawLogProbs);
  }

  public boolean isGreedy() {
    return temperature == 0;
  }

  /** Whether tokens may be removed from the distribution. */
  public boolean truncates() {
    return !isGreedy() && (topP < 1 || topK > 0 || minP > 0);
  }

  /** Whether the logits of repeated tokens change. */
  public boolean penalises() {
    return repetitionPenalty != 1;
  }
}
