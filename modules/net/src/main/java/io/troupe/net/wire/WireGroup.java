package io.troupe.net.wire;

import com.fasterxml.jackson.databind.util.StdConverter;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.EpisodeSequence;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.Turn;
import java.util.Arrays;
import java.util.List;

/**
 * A scored group on the wire: its prompt travels once, though every episode's first sequence begins
 * with it.
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
record WireGroup(LeaseId lease, int[] prompt, List<WireEpisode> episodes, List<Double> rewards) {
  /** An episode whose sequences leave out the group's prompt. */
  record WireEpisode(List<WireSequence> sequences, StopReason stop) {}

  /**
   * A sequence.
   *
   * @param own prompt of the sequence; empty if it is the group's
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  record WireSequence(int[] own, List<Turn> turns) {}

  /** Leaves out what is the group's. */
  static final class Out extends StdConverter<ScoredGroup, WireGroup> {
    @Override
    public WireGroup convert(ScoredGroup group) {
      return new WireGroup(
          group.lease(),
          group.prompt(),
          group.episodes().stream()
              .map(
                  episode ->
                      new WireEpisode(
                          episode.sequences().stream()
                              .map(sequence -> without(group.prompt(), sequence))
                              .toList(),
                          episode.stop()))
              .toList(),
          group.rewards());
    }

    private static WireSequence without(int[] prompt, EpisodeSequence sequence) {
      boolean same = Arrays.equals(sequence.prompt(), prompt);
      return new WireSequence(same ? new int[0] : sequence.prompt(), sequence.turns());
    }
  }

  /** Gives the group's prompt back to its sequences. */
  static final class In extends StdConverter<WireGroup, ScoredGroup> {
    @Override
    public ScoredGroup convert(WireGroup group) {
      return new ScoredGroup(
          group.lease,
          group.prompt,
          group.episodes.stream()
              .map(
                  episode ->
                      new Episode(
                          episode.sequences.stream()
                              .map(sequence -> with(group.prompt, sequence))
                              .toList(),
                          episode.stop))
              .toList(),
          group.rewards);
    }

    private static EpisodeSequence with(int[] prompt, WireSequence sequence) {
      return new EpisodeSequence(sequence.own.length == 0 ? prompt : sequence.own, sequence.turns);
    }
  }
}
