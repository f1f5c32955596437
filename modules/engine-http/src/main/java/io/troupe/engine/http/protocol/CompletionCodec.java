package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.protocol.MalformedResponseException;
import java.util.List;
import java.util.Optional;

/** How one kind of server is asked for completions, and how its answer is read. */
public interface CompletionCodec {
  /** The route. */
  String path();

  /** The request. Every sampling parameter is in it: a server's defaults are its own. */
  ObjectNode body(GenerateRequest draw, boolean stream);

  /**
   * Makes a request's completions go on after a token that ends a text. Servers only do not stop
   * there: what they draw, and what they say of it, stays the same.
   */
  default void ignoringEnd(ObjectNode body) {
    // a server that cannot be asked stops
  }

  /**
   * Reads an answer, or one event of a streamed one.
   *
   * @throws MalformedResponseException if it is not of this kind of server
   */
  List<CompletionChunk> pieces(JsonNode message) throws MalformedResponseException;

  /** What an event of a streamed answer says went wrong, if anything. */
  default Optional<CallFailure> failure(JsonNode message) {
    return message.hasNonNull("error")
        ? Optional.of(
            CallFailure.of(CallFailure.Kind.IN_STREAM, CallFailure.message(message.toString())))
        : Optional.empty();
  }

  /** Whether it can be told which ids end a completion; else it knows its own alone. */
  default boolean takesStopIds() {
    return true;
  }

  /** Whether one request may draw the whole group; else each completion is a request. */
  boolean generatesGroups();
}
