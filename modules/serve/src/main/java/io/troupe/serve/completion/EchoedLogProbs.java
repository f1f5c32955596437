package io.troupe.serve.completion;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.Scorer;
import io.troupe.engine.protocol.JsonFields;
import java.util.function.IntFunction;

/**
 * The {@code logprobs} of an echoed prompt and its completion, as OpenAI's completions have them
 * and harnesses for log-likelihoods read them: three arrays with one entry for each token. The
 * first token of a prompt has null. A token is the greedy choice exactly if its number is the
 * greatest of its {@code top_logprobs}: they are the same number then, not two roundings of it.
 */
final class EchoedLogProbs {
  private final IntFunction<String> names;
  private final int likeliest;
  private final ObjectNode json = JsonFields.object();
  private final ArrayNode tokens = json.putArray("tokens");
  private final ArrayNode logProbs = json.putArray("token_logprobs");
  private final ArrayNode likely = json.putArray("top_logprobs");

  /**
   * Empty arrays.
   *
   * @param names the name of each token id
   * @param likeliest entries of {@code top_logprobs} for each token of a prompt; 0 leaves the array
   *     with nulls
   */
  EchoedLogProbs(IntFunction<String> names, int likeliest) {
    this.names = names;
    this.likeliest = likeliest;
  }

  void addPrompt(int[] prompt, Scorer.Scores scores) {
    tokens.add(names.apply(prompt[0]));
    logProbs.addNull();
    likely.addNull();
    for (int i = 1; i < prompt.length; i++) {
      double own = scores.logProbs()[i - 1];
      ObjectNode others = JsonFields.object();
      for (int k = 0; k < likeliest; k++) {
        int id = scores.likeliest().ids()[i - 1][k];
        double logProb = scores.likeliest().logProbs()[i - 1][k];
        if (id == prompt[i]) {
          own = logProb;
        }
        // Tokens that are parts of characters may share a name; the first is the likeliest.
        if (!others.has(names.apply(id))) {
          others.put(names.apply(id), logProb);
        }
      }
      add(prompt[i], own, others);
    }
  }

  /**
   * Adds a completion.
   *
   * @param greedy whether each token is the likeliest of its place, and so its own top entry; of
   *     other completions the likeliest tokens are not known
   */
  void addSampled(TokenDelta sampled, boolean greedy) {
    for (int i = 0; i < sampled.tokens().length; i++) {
      ObjectNode others = JsonFields.object();
      if (greedy && likeliest > 0) {
        others.put(names.apply(sampled.tokens()[i]), (double) sampled.logProbs()[i]);
      }
      add(sampled.tokens()[i], sampled.logProbs()[i], others);
    }
  }

  private void add(int token, double logProb, ObjectNode others) {
    tokens.add(names.apply(token));
    logProbs.add(logProb);
    if (others.isEmpty()) {
      likely.addNull();
    } else {
      likely.add(others);
    }
  }

  ObjectNode json() {
    return json;
  }
}
