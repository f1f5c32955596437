package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;

/** How one kind of server is asked for completions, and how its answer is read. */
public interface Codec {
  /** The route. */
  String path();

  /** The request. Every sampling parameter is in it: a server's defaults are its own. */
  ObjectNode body(Draw draw, boolean stream);

  /**
   * Makes a request's completions go on after a token that ends a text. Servers only do not stop
   * there: what they draw, and what they say of it, stays the same.
   */
  default void pastEnd(ObjectNode body) {
    // a server that cannot be asked stops
  }

  /**
   * Reads an answer, or one event of a streamed one.
   *
   * @throws MalformedAnswerException if it is not of this kind of server
   */
  List<Piece> pieces(JsonNode message) throws MalformedAnswerException;

  /** What an event of a streamed answer says went wrong, if anything. */
  default Optional<Fault> failure(JsonNode message) {
    return message.hasNonNull("error")
        ? Optional.of(Fault.of(Fault.Kind.IN_STREAM, Fault.message(message.toString())))
        : Optional.empty();
  }

  /** Whether it can be told which ids end a completion; else it knows its own alone. */
  default boolean takesStopIds() {
    return true;
  }

  /** Whether one request may draw the whole group; else each completion is a request. */
  boolean drawsGroups();
}
