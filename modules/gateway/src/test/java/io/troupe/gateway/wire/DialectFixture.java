package io.troupe.gateway.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.gateway.dialog.ChatCall;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnReply.Finish;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.dialog.TurnStart;
import java.util.ArrayList;
import java.util.List;

/** The fixtures of the dialects' tests. */
final class DialectFixture {
  static final ChatCall CALL = new ChatCall("call_t7_0", "calc", "{\"e\": \"1+1\"}");
  private static final ObjectMapper JSON = new ObjectMapper();

  private DialectFixture() {}

  /** JSON written with single quotes. */
  static JsonNode json(String text) {
    try {
      return JSON.readTree(text.replace('\'', '"'));
    } catch (JsonProcessingException malformed) {
      throw new IllegalArgumentException(malformed);
    }
  }

  /** A turn that thought, spoke and called. */
  static TurnReply reply() {
    return reply(new ParsedAnswer("hm", "so", List.of(CALL)), Finish.TOOL_CALLS);
  }

  /** The turn of number 7. */
  static TurnReply reply(ParsedAnswer answer, Finish finish) {
    return new TurnReply(new TurnStart(7, 1, 9), answer, finish, "", 7);
  }

  /** An answer that was sampled before its first event left. */
  static List<ServerEvent> events(AgentDialect dialect, TurnReply reply, TurnRequest request) {
    AnswerStream stream = dialect.stream(reply.start(), request);
    List<ServerEvent> events = new ArrayList<>(stream.begin());
    events.addAll(stream.end(reply));
    return events;
  }

  /** An answer of which the stream hears in pieces. */
  static List<ServerEvent> events(
      AgentDialect dialect, TurnReply reply, TurnRequest request, List<ParsedAnswer> pieces) {
    AnswerStream stream = dialect.stream(reply.start(), request);
    List<ServerEvent> events = new ArrayList<>(stream.begin());
    for (ParsedAnswer piece : pieces) {
      events.addAll(stream.grow(piece));
      events.add(stream.alive());
    }
    events.addAll(stream.end(reply));
    return events;
  }
}
