package io.troupe.gateway.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.dialog.TurnStart;
import io.troupe.gateway.fields.RequestReader;
import java.util.Optional;

/**
 * An interface that agents speak. A {@link io.troupe.gateway.fields.FieldTable} says what becomes
 * of each field.
 */
public sealed interface AgentDialect permits ChatCompletions, AnthropicMessages, OpenAiResponses {
  /** The route by which agents of Anthropic's interface decide when to compact a conversation. */
  String COUNT = "messages/count_tokens";

  /**
   * Returns the dialect of a route.
   *
   * @param route behind {@code /v1/}
   */
  static Optional<AgentDialect> ofRoute(String route) {
    return switch (route) {
      case "chat/completions" -> Optional.of(new ChatCompletions());
      case "messages", COUNT -> Optional.of(new AnthropicMessages());
      case "responses" -> Optional.of(new OpenAiResponses());
      default -> Optional.empty();
    };
  }

  /** Whether a route counts the tokens of a request, and samples nothing. */
  static boolean counts(String route) {
    return route.equals(COUNT);
  }

  /**
   * Reads a request.
   *
   * @throws MalformedTurnException if it is none, or asks for something that the reader does not
   *     offer
   */
  TurnRequest read(JsonNode body, RequestReader reader) throws MalformedTurnException;

  /**
   * Reads a request to a run's gateway.
   *
   * @throws MalformedTurnException as {@link #read(JsonNode, RequestReader)}
   */
  default TurnRequest read(JsonNode body) throws MalformedTurnException {
    return read(body, RequestReader.GATEWAY);
  }

  /** An answer as a whole. */
  ObjectNode whole(TurnReply reply, TurnRequest request);

  /** Returns the answer as events, while it is sampled. */
  AnswerStream stream(TurnStart start, TurnRequest request);

  /** Returns the message of a failure for an agent. */
  ObjectNode error(Refusal refusal);

  /** The last event of a stream whose answer cannot be sampled. */
  default ServerEvent failure(Refusal refusal) {
    return new ServerEvent("error", error(refusal).toString());
  }

  /**
   * A request that is not answered.
   *
   * @param code in one word
   * @param parameter field of the request that is wrong; empty if none is
   */
  record Refusal(int status, String code, String parameter, String message) {
    /** The conversation does not fit the policy's context. */
    public static final String CONTEXT = "context_length_exceeded";
  }
}
