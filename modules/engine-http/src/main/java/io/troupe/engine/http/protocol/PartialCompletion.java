package io.troupe.engine.http.protocol;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
import io.troupe.core.rollout.TokenVersions;
import java.util.Arrays;

/**
 * The beginning of a completion whose drawing was cut. Its tokens were drawn as any are, so they
 * are kept, and the rest is drawn after them: given those tokens, what follows has the distribution
 * it would have had, from whatever weights draw it, and long completions, which are cut more often,
 * are not drawn again more often.
 *
 * @param tokens ids
 * @param logProbs one a token, checked
 * @param versions number of the weights of each token, never descending
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record PartialCompletion(int[] tokens, float[] logProbs, long[] versions) {
  /** Nothing was drawn yet. */
  public static final PartialCompletion NONE =
      new PartialCompletion(new int[0], new float[0], new long[0]);

  public PartialCompletion {
    require(
        tokens.length == logProbs.length && tokens.length == versions.length,
        "a beginning of %d tokens needs as many log-probabilities (%d) and versions (%d)",
        tokens.length,
        logProbs.length,
        versions.length);
    for (int i = 1; i < versions.length; i++) {
      require(
          versions[i - 1] <= versions[i],
          "token %d is of weights %d, and the one before of %d: weights only move forward",
          i,
          versions[i],
          versions[i - 1]);
    }
  }

  public int length() {
    return tokens.length;
  }

  /** What is asked for a continuation: the prompt, and these tokens after it. */
  public int[] after(int[] prompt) {
    return joined(prompt, tokens);
  }

  /** The oldest weights that may draw what follows. */
  long newest() {
    return versions.length == 0 ? 0 : versions[versions.length - 1];
  }

  /** The same with what was drawn next. */
  PartialCompletion append(PartialCompletion next) {
    float[] all = Arrays.copyOf(logProbs, length() + next.length());
    System.arraycopy(next.logProbs, 0, all, length(), next.length());
    long[] numbers = Arrays.copyOf(versions, length() + next.length());
    System.arraycopy(next.versions, 0, numbers, length(), next.length());
    return new PartialCompletion(joined(tokens, next.tokens), all, numbers);
  }

  /** The first so many tokens, which turned out to be all. */
  public Completion ended(int count, FinishReason why) {
    return new Completion(
        Arrays.copyOf(tokens, count),
        Arrays.copyOf(logProbs, count),
        TokenVersions.of(Arrays.copyOf(versions, count)),
        why);
  }

  private static int[] joined(int[] head, int[] tail) {
    int[] all = Arrays.copyOf(head, head.length + tail.length);
    System.arraycopy(tail, 0, all, head.length, tail.length);
    return all;
  }
}
