package io.troupe.core.train;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.EpisodeSequence;
import io.troupe.core.rollout.StalenessBound;
import io.troupe.core.rollout.Turn;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The tokens of an episode that a step may train on, and the count of the others.
 *
 * @param trainable a flag for each token behind the prompts of all its sequences, one sequence
 *     after the other
 * @param trained sampled tokens with loss weight
 * @param masked sampled tokens without, because they are stale
 * @param discarded sampled tokens without, because nothing is to be learnt from them
 * @param stalenessMax greatest staleness of a trained token
 * @param stalenessSum of all trained tokens
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
record EpisodeTokens(
    Episode episode,
    boolean[] trainable,
    long trained,
    long masked,
    long discarded,
    long stalenessMax,
    long stalenessSum) {
  /**
   * The tokens of an episode in a step from {@code from}.
   *
   * @param teaches whether anything is to be learnt from the episode
   */
  static EpisodeTokens of(
      Episode episode, boolean teaches, StalenessBound bound, WeightVersion from) {
    long trained = 0;
    long masked = 0;
    long discarded = 0;
    long max = 0;
    long sum = 0;
    for (Turn turn : episode.turns()) {
      if (!teaches || !turn.trained()) {
        discarded += turn.completion().length();
        continue;
      }
      for (TokenVersions.Span span : turn.completion().versions().spans()) {
        long staleness = from.stalenessOf(span.version());
        if (staleness <= bound.maxStaleness()) {
          trained += span.tokens();
          max = Math.max(max, staleness);
          sum += staleness * span.tokens();
        } else {
          masked += span.tokens();
        }
      }
    }
    return new EpisodeTokens(
        episode, flags(episode, teaches, bound, from), trained, masked, discarded, max, sum);
  }

  private static boolean[] flags(
      Episode episode, boolean teaches, StalenessBound bound, WeightVersion from) {
    boolean[] flags = new boolean[0];
    for (EpisodeSequence sequence : episode.sequences()) {
      boolean[] next = teaches ? sequence.trainable(bound, from) : new boolean[sequence.length()];
      int at = flags.length;
      flags = at == 0 ? next : Arrays.copyOf(flags, at + next.length);
      System.arraycopy(next, 0, flags, at, next.length);
    }
    return flags;
  }

  /**
   * The sequences as the trainer sees them.
   *
   * @param weights one for each element of {@link #trainable}
   */
  List<TrainingSequence> sequences(
      float[] weights, double advantage, double teacherWeight, WeightVersion from) {
    List<TrainingSequence> sequences = new ArrayList<>();
    int at = 0;
    for (EpisodeSequence sequence : episode.sequences()) {
      int end = at + sequence.length();
      sequences.add(
          new TrainingSequence(
                  sequence.prompt(),
                  sequence.tokens(),
                  sequence.logProbs(),
                  Arrays.copyOfRange(weights, at, end),
                  advantage)
              .sampledBehind(sequence.staleness(from))
              .observing(sequence.sampled())
              .withTeacherWeight(teacherWeight));
      at = end;
    }
    return sequences;
  }
}
