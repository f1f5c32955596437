package io.troupe.engine.toy;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A group that is being sampled, token by token. Only the sampler's thread uses it. */
final class ToyRequest {
  private final SampleRequest request;
  private final CompletableFuture<List<Completion>> answer = new CompletableFuture<>();
  private final LogitTable model;
  private final int endOfSequence;
  private final int[][] tokens;
  private final float[][] logProbs;
  private final long[] versions;
  private final int[] lengths;
  private int position;

  ToyRequest(SampleRequest request, LogitTable model, int endOfSequence) {
    this.request = request;
    this.model = model;
    this.endOfSequence = endOfSequence;
    this.tokens = new int[request.completions()][request.settings().maxTokens()];
    this.logProbs = new float[request.completions()][request.settings().maxTokens()];
    this.versions = new long[request.settings().maxTokens()];
    this.lengths = new int[request.completions()];
  }

  SampleRequest request() {
    return request;
  }

  /** Returns the result; the code that removes the request from the sampler's list completes it. */
  CompletableFuture<List<Completion>> answer() {
    return answer;
  }

  /** Samples the next token of every completion that has not ended. */
  void advance(WeightVersion version, float[] weights) {
    double temperature = request.settings().temperature();
    int row = model.row(request.prompt(), position);
    // The policy does not see the completion so far, so that all share one distribution.
    double[] distribution =
        temperature > 0 ? model.logProbs(weights, row, temperature) : new double[0];
    versions[position] = version.number();
    for (int c = 0; c < tokens.length; c++) {
      if (ended(c)) {
        continue;
      }
      if (temperature > 0) {
        int token = sample(distribution, ToyRandom.uniform(request.seed(), c, position));
        tokens[c][position] = token;
        logProbs[c][position] = (float) distribution[token];
      } else {
        tokens[c][position] = model.argmax(weights, row);
        logProbs[c][position] = 0; // certain under the greedy distribution
      }
      lengths[c] = position + 1;
      request.listener().sampled(c, tokens[c][position], logProbs[c][position], version);
    }
    position++;
  }

  /** Whether every completion has a stop token or is as long as it may be. */
  boolean finished() {
    for (int c = 0; c < tokens.length; c++) {
      if (!ended(c)) {
        return false;
      }
    }
    return true;
  }

  /**
   * The completions, in order.
   *
   * @throws IllegalArgumentException if the weights gave an invalid log-probability
   */
  List<Completion> completions() {
    List<Completion> completions = new ArrayList<>(tokens.length);
    for (int c = 0; c < tokens.length; c++) {
      int length = lengths[c];
      completions.add(
          new Completion(
              Arrays.copyOf(tokens[c], length),
              Arrays.copyOf(logProbs[c], length),
              TokenVersions.of(Arrays.copyOf(versions, length)),
              stopped(c) ? FinishReason.STOP : FinishReason.LENGTH));
    }
    return List.copyOf(completions);
  }

  private boolean ended(int c) {
    return stopped(c) || lengths[c] == tokens[c].length;
  }

  private boolean stopped(int c) {
    if (lengths[c] == 0) {
      return false;
    }
    int last = tokens[c][lengths[c] - 1];
    return last == endOfSequence || request.settings().stopIds().contains(last);
  }

  /** Returns the token in whose share of [0, 1) the number falls. */
  private static int sample(double[] logProbs, double number) {
    double below = 0;
    for (int k = 0; k < logProbs.length - 1; k++) {
      below += Math.exp(logProbs[k]);
      if (number < below) {
        return k;
      }
    }
    return logProbs.length - 1;
  }
}
