package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.util.List;
import java.util.Optional;

/** Encodes a request for completions, and decodes the answer, for one kind of server. */
public interface CompletionCodec {
  /** The route. */
  String path();

  /** The request. It contains every sampling parameter, because servers have different defaults. */
  ObjectNode body(GenerateRequest request, boolean stream);

  /**
   * Makes the completions of a request continue after a token that ends a text. The token only does
   * not stop the server: it changes neither sampling nor log-probabilities. A server may stop at
   * ids of its own all the same.
   */
  default void ignoringEnd(ObjectNode body) {
    // most servers stop at the ids that the request names, or at their own in any case
  }

  /**
   * Decodes an answer, or one event of a streaming answer.
   *
   * @throws MalformedResponseException if the answer does not follow the dialect
   */
  List<CompletionChunk> pieces(JsonNode message) throws MalformedResponseException;

  /** Returns the choices of an answer in a form of OpenAI's. */
  static JsonNode choices(JsonNode message) throws MalformedResponseException {
    JsonNode choices = message.path("choices");
    if (!choices.isArray()) {
      throw new MalformedResponseException(
          "no choices in " + JsonFields.excerpt(message.toString()));
    }
    return choices;
  }

  /** The failure that an event of a streaming answer reports, if any. */
  default Optional<CallFailure> failure(JsonNode message) {
    return message.hasNonNull("error")
        ? Optional.of(
            CallFailure.of(CallFailure.Kind.IN_STREAM, CallFailure.message(message.toString())))
        : Optional.empty();
  }

  /**
   * Whether a request can name the ids that end a completion; otherwise the server knows only its
   * own.
   */
  default boolean takesStopIds() {
    return true;
  }

  /** Whether one request may sample the whole group; otherwise each completion needs a request. */
  default boolean generatesGroups() {
    return false;
  }
}
