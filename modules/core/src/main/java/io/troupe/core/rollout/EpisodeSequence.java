package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import java.util.Arrays;
import java.util.List;

/**
 * Turns of an episode whose requests extend each other id by id, so that they are trained as one
 * sequence: the first request, its answer, what the next request adds, the next answer, and so on.
 *
 * <p>The exact prefix rule: a request belongs to a sequence only if it begins with all ids of the
 * sequence, sampled ones and others. So a sampled id is trained at the place where it was sampled,
 * behind the ids that it was sampled behind, and no text is ever encoded to train on it.
 *
 * @param prompt the first turn's request; handed over, not copied
 * @param turns in order, at least one
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record EpisodeSequence(int[] prompt, List<Turn> turns) {
  public EpisodeSequence {
    turns = List.copyOf(turns);
    require(prompt.length >= 1, "a request has at least one token");
    require(!turns.isEmpty(), "a sequence has at least one turn");
    require(
        turns.getFirst().observed().length == 0,
        "the first turn of a sequence adds nothing to the sequence's prompt, not %d tokens",
        turns.getFirst().observed().length);
  }

  /** Tokens behind the prompt: observed and sampled. */
  public int length() {
    int length = 0;
    for (Turn turn : turns) {
      length += turn.observed().length + turn.completion().length();
    }
    return length;
  }

  /** Returns all ids behind the prompt, observed and sampled. */
  public int[] tokens() {
    if (turns.size() == 1) {
      return turns.getFirst().completion().tokens();
    }
    int[] tokens = new int[length()];
    int at = 0;
    for (Turn turn : turns) {
      at = append(tokens, at, turn.observed());
      at = append(tokens, at, turn.completion().tokens());
    }
    return tokens;
  }

  /** The log-probability of each token behind the prompt; 0 for observed ones. */
  public float[] logProbs() {
    if (turns.size() == 1) {
      return turns.getFirst().completion().logProbs();
    }
    float[] logProbs = new float[length()];
    int at = 0;
    for (Turn turn : turns) {
      at += turn.observed().length;
      System.arraycopy(turn.completion().logProbs(), 0, logProbs, at, turn.completion().length());
      at += turn.completion().length();
    }
    return logProbs;
  }

  /** Whether each token behind the prompt was sampled; the others were observed. */
  public boolean[] sampled() {
    boolean[] sampled = new boolean[length()];
    int at = 0;
    for (Turn turn : turns) {
      at += turn.observed().length;
      Arrays.fill(sampled, at, at + turn.completion().length(), true);
      at += turn.completion().length();
    }
    return sampled;
  }

  /**
   * Returns a flag for each token behind the prompt, whether a step from {@code trainer} may train
   * on it: sampled tokens of turns that count, none of them stale.
   */
  public boolean[] trainable(StalenessBound bound, WeightVersion trainer) {
    boolean[] flags = new boolean[length()];
    int at = 0;
    for (Turn turn : turns) {
      at += turn.observed().length;
      if (turn.trained()) {
        boolean[] young = bound.trainable(turn.completion().versions(), trainer);
        System.arraycopy(young, 0, flags, at, young.length);
      }
      at += turn.completion().length();
    }
    return flags;
  }

  /**
   * Returns the number of versions by which each token's sampler was behind {@code trainer}; 0 for
   * observed tokens.
   */
  public int[] staleness(WeightVersion trainer) {
    int[] staleness = new int[length()];
    int at = 0;
    for (Turn turn : turns) {
      at += turn.observed().length;
      for (TokenVersions.Span span : turn.completion().versions().spans()) {
        int end = at + span.tokens();
        Arrays.fill(staleness, at, end, Math.toIntExact(trainer.stalenessOf(span.version())));
        at = end;
      }
    }
    return staleness;
  }

  /** Whether a request begins with all ids of this sequence. */
  boolean isPrefixOf(int[] request) {
    if (request.length < prompt.length + length()) {
      return false;
    }
    int at = matched(prompt, request, 0);
    for (Turn turn : turns) {
      at = at < 0 ? at : matched(turn.observed(), request, at);
      at = at < 0 ? at : matched(turn.completion().tokens(), request, at);
    }
    return at >= 0;
  }

  private static int matched(int[] part, int[] request, int at) {
    int end = at + part.length;
    return Arrays.equals(part, 0, part.length, request, at, end) ? end : -1;
  }

  private static int append(int[] tokens, int at, int[] part) {
    System.arraycopy(part, 0, tokens, at, part.length);
    return at + part.length;
  }
}
