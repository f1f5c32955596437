package io.troupe.serve.model;

import static io.troupe.core.Require.require;

import io.troupe.engine.SamplingEngine;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.gateway.TurnCodec;
import io.troupe.gateway.dialog.Conversation;
import io.troupe.gateway.dialog.UnreadableConversation;

/**
 * The model of a server.
 *
 * @param model the name that requests give
 * @param engine the engine that samples; its creator closes it
 * @param tokenizer the tokenizer of the model's ids
 * @param contextLength most tokens of prompt and completion together
 * @param conversation shows conversations and tools to the policy, and reads its answers
 * @param scorer gives log-probabilities of a prompt's tokens; its creator closes it
 */
public record ServedModel(
    String model,
    SamplingEngine engine,
    Tokenizer tokenizer,
    int contextLength,
    Conversation conversation,
    ScoringEngine scorer) {
  private static final String NO_TEMPLATE =
      "this model has no chat template; send the text to /v1/completions";

  public ServedModel {
    require(!model.isBlank(), "a served model has a name");
  }

  /** A model without a chat template, which completes texts. */
  public static ServedModel completing(
      String model,
      SamplingEngine engine,
      Tokenizer tokenizer,
      int contextLength,
      ScoringEngine scorer) {
    return new ServedModel(model, engine, tokenizer, contextLength, withoutTemplate(), scorer);
  }

  /** The conversations of a model without a template, which are refused. */
  public static Conversation withoutTemplate() {
    return new UnreadableConversation(NO_TEMPLATE);
  }

  /**
   * Returns the ids of a text.
   *
   * @param start whether the text begins with the tokenizer's own tokens, which a chat template
   *     writes itself
   * @throws IllegalArgumentException if the text cannot be represented
   */
  public int[] encoded(String text, boolean start) {
    return tokenizer.encodeWithSpecial(start ? tokenizer.withTextStart(text) : text);
  }

  /** Returns the codec of conversations. */
  public TurnCodec codec() {
    return new TurnCodec(conversation, tokenizer, contextLength);
  }

  /** The scorer of a server that only samples. */
  public static ScoringEngine withoutScorer() {
    return new ScoringEngine() {
      @Override
      public void load(WeightSnapshot weights) {}

      @Override
      public Scores score(int[] tokens, int topK) {
        throw new UnsupportedOperationException(
            "this server gives no prompt_logprobs; start it with --prompt-logprobs");
      }

      @Override
      public void close() {}
    };
  }
}
