package io.troupe.engine.http.protocol;

import static io.troupe.core.Require.require;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import java.util.Arrays;

/**
 * The beginning of a completion whose sampling was cut. Its tokens were sampled like any others, so
 * they are kept, and the rest is sampled after them. Given those tokens, the rest has the
 * distribution that it would have had, whichever weights sample it. Long completions, which are cut
 * more often, are therefore not sampled again more often.
 *
 * @param tokens ids
 * @param logProbs one for each token, checked
 * @param versions the weight version of each token, never descending
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record PartialCompletion(int[] tokens, float[] logProbs, long[] versions) {
  /** A completion without a token. */
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

  /** The prompt of a continuation: the original prompt and then these tokens. */
  public int[] after(int[] prompt) {
    return joined(prompt, tokens);
  }

  /** The oldest weights that may sample the continuation. */
  long newest() {
    return versions.length == 0 ? 0 : versions[versions.length - 1];
  }

  /** This beginning, extended by a continuation. */
  PartialCompletion append(PartialCompletion next) {
    float[] all = Arrays.copyOf(logProbs, length() + next.length());
    System.arraycopy(next.logProbs, 0, all, length(), next.length());
    long[] numbers = Arrays.copyOf(versions, length() + next.length());
    System.arraycopy(next.versions, 0, numbers, length(), next.length());
    return new PartialCompletion(joined(tokens, next.tokens), all, numbers);
  }

  /** The completion of the first {@code count} tokens, which turned out to be all. */
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
