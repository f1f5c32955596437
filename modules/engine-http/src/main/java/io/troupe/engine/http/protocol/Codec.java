package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** How one kind of server is asked for completions, and how its answer is read. */
public interface Codec {
  /** The route. */
  String path();

  /** The request. Every sampling parameter is in it: a server's defaults are its own. */
  ObjectNode body(Draw draw, boolean stream);

  /**
   * Reads an answer, or one event of a streamed one.
   *
   * @throws MalformedAnswerException if it is not of this kind of server
   */
  List<Piece> pieces(JsonNode message) throws MalformedAnswerException;

  /** Whether one request may draw the whole group; else each completion is a request. */
  boolean drawsGroups();
}
