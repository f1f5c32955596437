package io.troupe.gateway.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnRequest;
import java.util.List;

/**
 * An interface that agents speak. Sampling settings of a request are passed over, because the run
 * has its own, except for limits and stop texts; what would change the distribution in another way
 * is refused by its name.
 */
public sealed interface AgentDialect permits ChatCompletions, AnthropicMessages, OpenAiResponses {
  /**
   * Reads a request.
   *
   * @throws MalformedTurnException if it is none, or asks for something that is not served
   */
  TurnRequest read(JsonNode body) throws MalformedTurnException;

  /** An answer as a whole. */
  ObjectNode whole(TurnReply reply, TurnRequest request);

  /** The same answer as events. */
  List<ServerEvent> events(TurnReply reply, TurnRequest request);

  /** What an agent is told of a failure. */
  ObjectNode error(Refusal refusal);

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
