package io.troupe.gateway.wire;

import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import java.util.List;

/** One answer as the events of a dialect, in the order of the methods. */
public interface AnswerStream {
  /** The events before the first token. */
  List<ServerEvent> begin();

  /** An event that changes nothing: clients that count events know that the answer is sampled. */
  ServerEvent alive();

  /**
   * Returns the events of the growth of reasoning and text.
   *
   * @param soFar begins with what was given before, and has no calls
   */
  List<ServerEvent> grow(ParsedAnswer soFar);

  /**
   * The rest: each call is one event, since no client reads a part of one.
   *
   * @throws IllegalStateException if the answer does not begin with what was sent
   */
  List<ServerEvent> end(TurnReply reply);
}
