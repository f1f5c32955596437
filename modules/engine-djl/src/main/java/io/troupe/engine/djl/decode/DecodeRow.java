package io.troupe.engine.djl.decode;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.StopMatcher;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.CounterRandom;
import java.util.Arrays;
import java.util.SortedSet;
import java.util.TreeSet;

/** One completion that is being decoded. */
final class DecodeRow {
  private static final int INITIAL_CAPACITY = 64;

  private final SampleGroup group;
  private final int index;
  private final int limit;
  private final long arrival;
  private int[] tokens;
  private float[] logProbs;
  private long[] versions;
  private float[] rawLogProbs = {};
  private final StopMatcher stops;
  private int sampledTokens;
  private boolean finished;

  /** The numbers of tokens at which keys and values were computed again after a preemption. */
  private final SortedSet<Integer> preemptedAt = new TreeSet<>();

  /**
   * Creates a completion without tokens.
   *
   * @param index of the completion in its group
   * @param context most tokens of prompt and completion together
   * @param arrival position of the group in the order of admission
   */
  DecodeRow(SampleGroup group, int index, int context, long arrival) {
    this.group = group;
    this.arrival = arrival;
    this.index = index;
    this.limit = Math.min(settings().maxTokens(), context - group.request().prompt().length);
    int capacity = Math.min(limit, INITIAL_CAPACITY);
    this.tokens = new int[capacity];
    this.logProbs = new float[capacity];
    this.versions = new long[capacity];
    if (settings().rawLogProbs()) {
      this.rawLogProbs = new float[capacity];
    }
    this.stops = new StopMatcher(settings().stops());
  }

  SampleGroup group() {
    return group;
  }

  long arrival() {
    return arrival;
  }

  /**
   * Returns the tokens whose keys and values the next step reads from the cache: all but the
   * latest.
   */
  int[] cachedTokens() {
    int[] prompt = group.request().prompt();
    if (sampledTokens <= 1) {
      return prompt;
    }
    int[] all = Arrays.copyOf(prompt, prompt.length + sampledTokens - 1);
    System.arraycopy(tokens, 0, all, prompt.length, sampledTokens - 1);
    return all;
  }

  /** Notes that its keys and values were computed again, because it had lost its slot. */
  void resumed() {
    preemptedAt.add(sampledTokens);
  }

  /** Returns the number of sampled tokens. */
  int sampledTokens() {
    return sampledTokens;
  }

  /** Returns the latest token, the input of the next step. */
  int lastToken() {
    return tokens[sampledTokens - 1];
  }

  /** Returns the position of the latest token in prompt and completion. */
  int position() {
    return group.request().prompt().length + sampledTokens - 1;
  }

  /**
   * Returns the number that divides the logits: 1 for greedy sampling, whose log-probabilities are
   * those of temperature 1.
   */
  double temperature() {
    return settings().isGreedy() ? 1 : settings().temperature();
  }

  /** Returns how many of the most probable tokens may be sampled. */
  int effectiveTopK() {
    boolean all = settings().isGreedy() || settings().topK() == 0;
    return all ? Integer.MAX_VALUE : settings().topK();
  }

  /**
   * Returns the least log-probability of a token that may be sampled, relative to the most probable
   * token.
   */
  double logFloor() {
    return Math.log(settings().minP());
  }

  /** Returns the number of tokens of prompt and completion. */
  int length() {
    return position() + 1;
  }

  /** Returns token i of prompt and completion. */
  int token(int i) {
    int[] prompt = group.request().prompt();
    return i < prompt.length ? prompt[i] : tokens[i - prompt.length];
  }

  /** Returns the uniform random number that selects the next token. */
  double uniform() {
    return CounterRandom.uniform(group.request().seed(), index, sampledTokens);
  }

  /** Whether the completion needs no further step. */
  boolean done() {
    return finished || group.done();
  }

  /** Appends a token; after the last token, hands the completion to its group. */
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
      int capacity = Math.min(limit, 2 * sampledTokens);
      tokens = Arrays.copyOf(tokens, capacity);
      logProbs = Arrays.copyOf(logProbs, capacity);
      versions = Arrays.copyOf(versions, capacity);
      rawLogProbs = settings().rawLogProbs() ? Arrays.copyOf(rawLogProbs, capacity) : rawLogProbs;
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
            settings().rawLogProbs() ? Arrays.copyOf(rawLogProbs, sampledTokens) : rawLogProbs,
            preemptedAt.stream().mapToInt(Integer::intValue).toArray()));
  }

  SamplingSettings settings() {
    return group.request().settings();
  }
}
