package io.troupe.gateway.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.gateway.dialog.ChatCall;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnReply.Finish;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import java.util.List;

/** What tests of dialects share. */
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
    return new TurnReply(
        7, 1, new ParsedAnswer("hm", "so", List.of(CALL)), Finish.TOOL_CALLS, "", 9, 7);
  }
}
