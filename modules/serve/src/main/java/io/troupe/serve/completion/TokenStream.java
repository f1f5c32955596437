package io.troupe.serve.completion;

import io.troupe.base.failure.Causes;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.TokenListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The tokens of one request while it is sampled: the engine's thread adds tokens, the request's
 * thread takes them. The engine never waits for a client, because the request's own token limit
 * bounds the tokens that it adds.
 */
public final class TokenStream {
  /** A choice's tokens so far. */
  private static final class ChoiceTokens {
    private int[] tokens = new int[16];
    private float[] logProbs = new float[16];
    private long[] versions = new long[16];
    private int count;
    private int sentTokens;
    private String finish = "";
    private boolean finishSent;

    void add(int token, float logProb, long version) {
      if (count == tokens.length) {
        tokens = Arrays.copyOf(tokens, 2 * count);
        logProbs = Arrays.copyOf(logProbs, 2 * count);
        versions = Arrays.copyOf(versions, 2 * count);
      }
      tokens[count] = token;
      logProbs[count] = logProb;
      versions[count] = version;
      count++;
    }

    void addRest(Completion whole) {
      int end = 0;
      for (TokenVersions.Span span : whole.versions().spans()) {
        end += span.tokens();
        while (count < end) {
          add(whole.tokens()[count], whole.logProbs()[count], span.version().number());
        }
      }
    }

    boolean hasUnsentTokens() {
      return sentTokens < count || (!finish.isEmpty() && !finishSent);
    }

    TokenDelta take(int choice) {
      TokenDelta delta =
          new TokenDelta(
              choice,
              sentTokens,
              Arrays.copyOfRange(tokens, sentTokens, count),
              Arrays.copyOfRange(logProbs, sentTokens, count),
              Arrays.copyOfRange(versions, sentTokens, count),
              finish);
      sentTokens = count;
      finishSent = !finish.isEmpty();
      return delta;
    }
  }

  private final int completions;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition news = lock.newCondition();
  private final List<ChoiceTokens> rows = new ArrayList<>();
  private final Map<Integer, List<Completion>> whole = new HashMap<>();
  private int open;
  private boolean aborted;
  private Optional<Throwable> failure = Optional.empty();

  /** A stream of the given prompts, with the given completions of each. */
  public TokenStream(int prompts, int completions) {
    this.completions = completions;
    this.open = prompts;
    for (int i = 0; i < prompts * completions; i++) {
      rows.add(new ChoiceTokens());
    }
  }

  /** Receives the tokens of a prompt from the engine. */
  public TokenListener listener(int prompt) {
    return (completion, token, logProb, version) ->
        addTokens(prompt * completions + completion, token, logProb, version);
  }

  private void addTokens(int choice, int token, float logProb, WeightVersion version) {
    lock.lock();
    try {
      ChoiceTokens row = rows.get(choice);
      boolean first = !row.hasUnsentTokens();
      row.add(token, logProb, version.number());
      if (first) {
        news.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Records that the engine finished a prompt; an engine may give its tokens only now. */
  public void ended(int prompt, List<Completion> sampled) {
    lock.lock();
    try {
      whole.put(prompt, List.copyOf(sampled));
      for (int c = 0; c < completions; c++) {
        ChoiceTokens row = rows.get(prompt * completions + c);
        row.addRest(sampled.get(c));
        row.finish = sampled.get(c).finishReason() == FinishReason.LENGTH ? "length" : "stop";
      }
      open--;
      news.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Records that the engine failed on a prompt. */
  public void failed(int prompt, Throwable cause) {
    Throwable root = Causes.of(cause);
    lock.lock();
    try {
      if (aborted && root instanceof CancellationException) {
        for (int c = 0; c < completions; c++) {
          rows.get(prompt * completions + c).finish = "abort";
        }
      } else {
        failure = Optional.of(root);
      }
      open--;
      news.signal();
    } finally {
      lock.unlock();
    }
  }

  /** From now on, a completion that the engine cancels ends as aborted, with the tokens it has. */
  public void abort() {
    lock.lock();
    try {
      aborted = true;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the request was aborted. */
  public boolean isAborted() {
    lock.lock();
    try {
      return aborted;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the engine has finished all prompts. */
  public boolean done() {
    lock.lock();
    try {
      return open == 0;
    } finally {
      lock.unlock();
    }
  }

  /** The failure of the request, if any. */
  public Optional<Throwable> failure() {
    lock.lock();
    try {
      return failure;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for new tokens, at most for the patience; then gathers more tokens for the interval, or
   * until the end.
   */
  public List<TokenDelta> take(Duration patience, Duration interval) throws InterruptedException {
    lock.lock();
    try {
      long left = patience.toNanos();
      while (left > 0 && open > 0 && rows.stream().noneMatch(ChoiceTokens::hasUnsentTokens)) {
        left = news.awaitNanos(left);
      }
      long gather = interval.toNanos();
      while (gather > 0 && open > 0 && rows.stream().anyMatch(ChoiceTokens::hasUnsentTokens)) {
        gather = news.awaitNanos(gather);
      }
      List<TokenDelta> deltas = new ArrayList<>();
      for (int i = 0; i < rows.size(); i++) {
        if (rows.get(i).hasUnsentTokens()) {
          deltas.add(rows.get(i).take(i));
        }
      }
      return deltas;
    } finally {
      lock.unlock();
    }
  }

  /** The completions of a prompt; none while it is sampled, and where it was aborted. */
  public List<Completion> completions(int prompt) {
    lock.lock();
    try {
      return whole.getOrDefault(prompt, List.of());
    } finally {
      lock.unlock();
    }
  }

  /** Waits for the end, at most for the patience. */
  public boolean awaitDone(Duration patience) throws InterruptedException {
    lock.lock();
    try {
      long left = TimeUnit.MILLISECONDS.toNanos(patience.toMillis());
      while (left > 0 && open > 0) {
        left = news.awaitNanos(left);
      }
      return open == 0;
    } finally {
      lock.unlock();
    }
  }
}
