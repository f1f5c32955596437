package io.troupe.serve.model;

import static io.troupe.core.Require.require;

import io.troupe.engine.SamplingEngine;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.gateway.TurnCodec;
import io.troupe.gateway.dialog.Conversation;
import io.troupe.gateway.dialog.UnreadableConversation;
import java.util.List;
import java.util.Map;

/**
 * The model of a server.
 *
 * @param model the name that requests give
 * @param engine the engine that samples; its creator closes it
 * @param tokenizer the tokenizer of the model's ids
 * @param contextLength most tokens of prompt and completion together
 * @param chat turns a conversation into a prompt
 * @param conversation shows agents' conversations and tools to the policy, and reads its calls
 * @param scorer gives log-probabilities of a prompt's tokens; its creator closes it
 */
public record ServedModel(
    String model,
    SamplingEngine engine,
    Tokenizer tokenizer,
    int contextLength,
    ChatRenderer chat,
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
    return new ServedModel(
        model, engine, tokenizer, contextLength, ChatRenderer.none(), withoutTemplate(), scorer);
  }

  /** The conversations of a model without a template, which are refused. */
  public static Conversation withoutTemplate() {
    return new UnreadableConversation(NO_TEMPLATE);
  }

  /** Turns a conversation into the text of a prompt. */
  @FunctionalInterface
  public interface ChatRenderer {
    /**
     * The text of a prompt; see {@link io.troupe.chat.ChatTemplate}.
     *
     * @throws IllegalArgumentException if the model has no template, or the template refuses the
     *     conversation
     */
    String render(List<ServedMessage> messages, Map<String, Object> arguments);

    /** One turn of a conversation. */
    record ServedMessage(String role, String content) {}

    /** The renderer of a model without a template. */
    static ChatRenderer none() {
      return new NoTemplate();
    }

    /** Refuses conversations. */
    record NoTemplate() implements ChatRenderer {
      @Override
      public String render(List<ServedMessage> messages, Map<String, Object> arguments) {
        throw new IllegalArgumentException(NO_TEMPLATE);
      }
    }
  }

  /** Whether conversations are read by their format alone, since there is no template. */
  public boolean readsAgentsOnly() {
    return chat instanceof ChatRenderer.NoTemplate
        && !(conversation instanceof UnreadableConversation);
  }

  /** Returns the codec of agents' requests. */
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
