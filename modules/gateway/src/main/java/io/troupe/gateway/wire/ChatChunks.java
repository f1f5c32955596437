package io.troupe.gateway.wire;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.gateway.dialog.ChatCall;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.dialog.TurnStart;
import java.util.ArrayList;
import java.util.List;

/**
 * The chunks of chat completions. Every call is one fragment, and all calls are one chunk: some
 * clients join fragments of different calls.
 */
final class ChatChunks implements AnswerStream {
  private final TurnStart start;
  private final TurnRequest request;
  private final SentText reasoning = new SentText();
  private final SentText content = new SentText();

  ChatChunks(TurnStart start, TurnRequest request) {
    this.start = start;
    this.request = request;
  }

  @Override
  public List<ServerEvent> begin() {
    return List.of(chunk(delta().put("role", "assistant").put(ChatCompletions.CONTENT, ""), ""));
  }

  @Override
  public ServerEvent alive() {
    return chunk(delta(), "");
  }

  @Override
  public List<ServerEvent> grow(ParsedAnswer soFar) {
    List<ServerEvent> events = new ArrayList<>();
    String thought = reasoning.next(soFar.reasoning());
    if (!thought.isEmpty()) {
      events.add(chunk(delta().put(ChatCompletions.REASONING, thought), ""));
    }
    String text = content.next(soFar.content());
    if (!text.isEmpty()) {
      events.add(chunk(delta().put(ChatCompletions.CONTENT, text), ""));
    }
    return events;
  }

  @Override
  public List<ServerEvent> end(TurnReply reply) {
    List<ServerEvent> events = new ArrayList<>(grow(reply.answer()));
    if (!reply.answer().calls().isEmpty()) {
      ObjectNode called = delta();
      ArrayNode calls = called.putArray("tool_calls");
      for (ChatCall call : reply.answer().calls()) {
        calls.add(ChatCompletions.call(call).put("index", calls.size()));
      }
      events.add(chunk(called, ""));
    }
    events.add(chunk(delta(), ChatCompletions.finish(reply)));
    if (request.usage()) {
      ObjectNode counts = ChatCompletions.head(start, request, "chat.completion.chunk");
      counts.putArray("choices");
      counts.set("usage", ChatCompletions.usage(reply));
      events.add(ServerEvent.of(counts));
    }
    events.add(new ServerEvent("", "[DONE]"));
    return events;
  }

  private static ObjectNode delta() {
    return JsonNodeFactory.instance.objectNode();
  }

  private ServerEvent chunk(ObjectNode delta, String finish) {
    ObjectNode json = ChatCompletions.head(start, request, "chat.completion.chunk");
    ObjectNode choice = json.putArray("choices").addObject().put("index", 0);
    choice.set("delta", delta);
    if (finish.isEmpty()) {
      choice.putNull(ChatCompletions.FINISH);
    } else {
      choice.put(ChatCompletions.FINISH, finish);
    }
    return ServerEvent.of(json);
  }
}
