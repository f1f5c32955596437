package io.troupe.engine.djl.decode;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.StopMatcher;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.CounterRandom;
import java.util.Arrays;

/** One completion while it is decoded. */
final class DecodeRow {
  private static final int FIRST_ROOM = 64;

  private final SampleGroup group;
  private final int index;
  private final int limit;
  private final long age;
  private int[] tokens;
  private float[] logProbs;
  private long[] versions;
  private float[] rawLogProbs = {};
  private final StopMatcher stops;
  private int sampledTokens;
  private boolean finished;

  /**
   * A completion without tokens yet.
   *
   * @param index which of its group
   * @param context most tokens of prompt and completion together
   * @param age larger for groups that joined later
   */
  DecodeRow(SampleGroup group, int index, int context, long age) {
    this.group = group;
    this.age = age;
    this.index = index;
    this.limit = Math.min(settings().maxTokens(), context - group.request().prompt().length);
    int room = Math.min(limit, FIRST_ROOM);
    this.tokens = new int[room];
    this.logProbs = new float[room];
    this.versions = new long[room];
    if (settings().rawLogProbs()) {
      this.rawLogProbs = new float[room];
    }
    this.stops = new StopMatcher(settings().stops());
  }

  SampleGroup group() {
    return group;
  }

  long age() {
    return age;
  }

  /** The tokens whose keys and values the next step finds: all but the latest drawn. */
  int[] cachedTokens() {
    int[] prompt = group.request().prompt();
    if (sampledTokens <= 1) {
      return prompt;
    }
    int[] all = Arrays.copyOf(prompt, prompt.length + sampledTokens - 1);
    System.arraycopy(tokens, 0, all, prompt.length, sampledTokens - 1);
    return all;
  }

  /** How many tokens were drawn. */
  int sampledTokens() {
    return sampledTokens;
  }

  /** The latest token, the next step's input. */
  int lastToken() {
    return tokens[sampledTokens - 1];
  }

  /** The position of the latest token in prompt and completion. */
  int position() {
    return group.request().prompt().length + sampledTokens - 1;
  }

  /** Logits are divided by it; a greedy token's log-probability is that of temperature 1. */
  double temperature() {
    return settings().isGreedy() ? 1 : settings().temperature();
  }

  /** How many of the most probable tokens may be drawn. */
  int effectiveTopK() {
    boolean all = settings().isGreedy() || settings().topK() == 0;
    return all ? Integer.MAX_VALUE : settings().topK();
  }

  /**
   * The least log-probability of a token that may be drawn, relative to the most probable one's.
   */
  double logFloor() {
    return Math.log(settings().minP());
  }

  /** How many tokens of prompt and completion there are. */
  int length() {
    return position() + 1;
  }

  /** Token i of prompt and completion. */
  int token(int i) {
    int[] prompt = group.request().prompt();
    return i < prompt.length ? prompt[i] : tokens[i - prompt.length];
  }

  /** The uniform number of the next token. */
  double uniform() {
    return CounterRandom.uniform(group.request().seed(), index, sampledTokens);
  }

  /** Whether it needs no further step. */
  boolean done() {
    return finished || group.done();
  }

  /** Takes the next token; at the last one, hands the completion to its group. */
  void accept(int token, double logProb, double raw, WeightVersion version, Tokenizer tokenizer) {
    if (!Double.isFinite(logProb)) {
      group.fail(
          new ArithmeticException(
              "token %d of completion %d of %s has log-probability %s under weights %s: the policy's"
                      .formatted(sampledTokens, index, group.request().lease(), logProb, version)
                  + " numbers are not finite"));
      return;
    }
    if (sampledTokens == tokens.length) {
      int room = Math.min(limit, 2 * sampledTokens);
      tokens = Arrays.copyOf(tokens, room);
      logProbs = Arrays.copyOf(logProbs, room);
      versions = Arrays.copyOf(versions, room);
      rawLogProbs = settings().rawLogProbs() ? Arrays.copyOf(rawLogProbs, room) : rawLogProbs;
    }
    tokens[sampledTokens] = token;
    logProbs[sampledTokens] = (float) logProb;
    versions[sampledTokens] = version.number();
    if (settings().rawLogProbs()) {
      rawLogProbs[sampledTokens] = (float) raw;
    }
    sampledTokens++;
    group.request().listener().sampled(index, token, (float) logProb, version);
    if (tokenizer.endIds().contains(token) || settings().stopIds().contains(token)) {
      finish(FinishReason.STOP);
    } else if (!settings().stops().isEmpty() && stops.endsWith(tokenizer.bytes(token))) {
      finish(FinishReason.STOP_STRING);
    } else if (sampledTokens == limit) {
      finish(FinishReason.LENGTH);
    }
  }

  private void finish(FinishReason reason) {
    finished = true;
    group.finish(
        index,
        new Completion(
            Arrays.copyOf(tokens, sampledTokens),
            Arrays.copyOf(logProbs, sampledTokens),
            TokenVersions.of(Arrays.copyOf(versions, sampledTokens)),
            reason,
            settings().rawLogProbs() ? Arrays.copyOf(rawLogProbs, sampledTokens) : rawLogProbs));
  }

  SamplingSettings settings() {
    return group.request().settings();
  }
}
