package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The product of a lease for one of a group's G rewards: turns of the policy, in one or more
 * sequences. An answer without tools is an episode of one turn.
 *
 * @param sequences in the order of their first turns, at least one
 */
public record Episode(List<EpisodeSequence> sequences, StopReason stop) {
  public Episode {
    sequences = List.copyOf(sequences);
    require(!sequences.isEmpty(), "an episode has at least one turn");
  }

  /** An episode of one turn. */
  public static Episode of(int[] prompt, Completion completion) {
    return new Episode(
        List.of(new EpisodeSequence(prompt, List.of(Turn.only(completion)))),
        completion.finishReason() == FinishReason.LENGTH
            ? StopReason.MAX_TOKENS
            : StopReason.COMPLETED);
  }

  /** Returns all turns in the order in which they were asked for. */
  public List<Turn> turns() {
    if (sequences.size() == 1) {
      return sequences.getFirst().turns();
    }
    return sequences.stream()
        .flatMap(sequence -> sequence.turns().stream())
        .sorted(Comparator.comparingInt(Turn::ordinal))
        .toList();
  }

  /** Returns the policy's completions, turn after turn. */
  public Stream<Completion> completions() {
    return turns().stream().map(Turn::completion);
  }

  /** The number of sampled tokens. */
  public int sampledTokens() {
    return completions().mapToInt(Completion::length).sum();
  }

  /**
   * Returns the number of its tokens that each version sampled, in the order of versions; with one
   * turn, that is the order of tokens.
   */
  public TokenVersions versions() {
    SortedMap<WeightVersion, Integer> tokens = new TreeMap<>();
    completions()
        .flatMap(completion -> completion.versions().spans().stream())
        .forEach(span -> tokens.merge(span.version(), span.tokens(), Integer::sum));
    return new TokenVersions(
        tokens.entrySet().stream()
            .map(entry -> new TokenVersions.Span(entry.getKey(), entry.getValue()))
            .toList());
  }

  /** The numbers without the tokens. */
  public EpisodeSummary summary() {
    List<Turn> turns = turns();
    List<ToolRun> runs = turns.stream().flatMap(turn -> turn.tools().stream()).toList();
    TimeSpans sampled =
        TimeSpans.of(turns, Turn::startMillis, turn -> turn.endMillis() - turn.startMillis());
    TimeSpans tools = TimeSpans.of(runs, ToolRun::startMillis, ToolRun::millis);
    return new EpisodeSummary(
        turns.size(),
        sequences.size(),
        stop,
        runs.size(),
        tools.coveredMillis(),
        sampled.coveredMillis(),
        sampled.and(tools).wholeMillis());
  }
}
