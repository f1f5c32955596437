package io.troupe.engine.djl;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingSettings;
import java.util.Arrays;

/** One completion while it is decoded. */
final class DecodeRow {
  private static final int FIRST_ROOM = 64;

  private final SampleGroup group;
  private final int index;
  private final int limit;
  private int[] tokens;
  private float[] logProbs;
  private long[] versions;
  private int count;
  private boolean finished;

  /**
   * A completion without tokens yet.
   *
   * @param index which of its group
   * @param context most tokens of prompt and completion together
   */
  DecodeRow(SampleGroup group, int index, int context) {
    this.group = group;
    this.index = index;
    this.limit = Math.min(settings().maxTokens(), context - group.request().prompt().length);
    int room = Math.min(limit, FIRST_ROOM);
    this.tokens = new int[room];
    this.logProbs = new float[room];
    this.versions = new long[room];
  }

  SampleGroup group() {
    return group;
  }

  /** The latest token, the next step's input. */
  int latest() {
    return tokens[count - 1];
  }

  /** The position of the latest token in prompt and completion. */
  int position() {
    return group.request().prompt().length + count - 1;
  }

  boolean greedy() {
    return settings().temperature() == 0;
  }

  /** Logits are divided by it; a greedy token's log-probability is that of temperature 1. */
  double temperature() {
    return greedy() ? 1 : settings().temperature();
  }

  /** The uniform number of the next token. */
  double uniform() {
    return Draws.uniform(group.request().seed(), index, count);
  }

  /** Whether it needs no further step. */
  boolean done() {
    return finished || group.done();
  }

  /** Takes the next token; at the last one, hands the completion to its group. */
  void accept(int token, double logProb, WeightVersion version, int endOfSequence) {
    if (!Double.isFinite(logProb)) {
      group.fail(
          new ArithmeticException(
              "token %d of completion %d of %s has log-probability %s under weights %s: the policy's"
                      .formatted(count, index, group.request().lease(), logProb, version)
                  + " numbers are not finite"));
      return;
    }
    if (count == tokens.length) {
      int room = Math.min(limit, 2 * count);
      tokens = Arrays.copyOf(tokens, room);
      logProbs = Arrays.copyOf(logProbs, room);
      versions = Arrays.copyOf(versions, room);
    }
    tokens[count] = token;
    logProbs[count] = (float) logProb;
    versions[count] = version.number();
    count++;
    if (token == endOfSequence) {
      finish(FinishReason.STOP);
    } else if (count == limit) {
      finish(FinishReason.LENGTH);
    }
  }

  private void finish(FinishReason reason) {
    finished = true;
    group.finish(
        index,
        new Completion(
            Arrays.copyOf(tokens, count),
            Arrays.copyOf(logProbs, count),
            TokenVersions.of(Arrays.copyOf(versions, count)),
            reason));
  }

  private SamplingSettings settings() {
    return group.request().settings();
  }
}
