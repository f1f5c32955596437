package io.troupe.gateway.wire;

import static io.troupe.gateway.wire.AnthropicMessages.CONTENT;
import static io.troupe.gateway.wire.AnthropicMessages.STOP_REASON;
import static io.troupe.gateway.wire.AnthropicMessages.STOP_SEQUENCE;
import static io.troupe.gateway.wire.AnthropicMessages.TEXT;
import static io.troupe.gateway.wire.AnthropicMessages.THINKING;
import static io.troupe.gateway.wire.AnthropicMessages.TYPE;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.gateway.dialog.ChatCall;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.dialog.TurnStart;
import java.util.ArrayList;
import java.util.List;

/** The blocks of a message of Anthropic's: thinking, text, calls, one after the other. */
final class MessageBlocks implements AnswerStream {
  private static final String INDEX = "index";

  private enum Open {
    NONE,
    THOUGHT,
    TEXT
  }

  private final TurnStart start;
  private final TurnRequest request;
  private final SentText reasoning = new SentText();
  private final SentText content = new SentText();
  private Open open = Open.NONE;
  private int index;

  MessageBlocks(TurnStart start, TurnRequest request) {
    this.start = start;
    this.request = request;
  }

  @Override
  public List<ServerEvent> begin() {
    ObjectNode message = AnthropicMessages.head(start, request);
    message.putArray(CONTENT);
    message.putNull(STOP_REASON).putNull(STOP_SEQUENCE);
    message.set("usage", AnthropicMessages.usage(start, 0));
    ObjectNode begun = JsonNodeFactory.instance.objectNode();
    begun.set("message", message);
    return List.of(ServerEvent.typed("message_start", begun));
  }

  @Override
  public ServerEvent alive() {
    return ServerEvent.typed("ping", JsonNodeFactory.instance.objectNode());
  }

  @Override
  public List<ServerEvent> grow(ParsedAnswer soFar) {
    List<ServerEvent> events = new ArrayList<>();
    String thought = reasoning.next(soFar.reasoning());
    if (!thought.isEmpty()) {
      if (open == Open.NONE) {
        open = Open.THOUGHT;
        events.add(blockStart(AnthropicMessages.thinking(start, "")));
      }
      events.add(delta("thinking_delta", THINKING, thought));
    }
    String text = content.next(soFar.content());
    if (!text.isEmpty()) {
      openText(events);
      events.add(delta("text_delta", TEXT, text));
    }
    return events;
  }

  private void openText(List<ServerEvent> events) {
    if (open != Open.TEXT) {
      close(events);
      open = Open.TEXT;
      events.add(blockStart(JsonNodeFactory.instance.objectNode().put(TYPE, TEXT).put(TEXT, "")));
    }
  }

  private void close(List<ServerEvent> events) {
    if (open == Open.THOUGHT) {
      events.add(delta("signature_delta", "signature", AnthropicMessages.signature(start)));
    }
    if (open != Open.NONE) {
      events.add(blockStop());
      index++;
    }
    open = Open.NONE;
  }

  @Override
  public List<ServerEvent> end(TurnReply reply) {
    List<ServerEvent> events = new ArrayList<>(grow(reply.answer()));
    if (AnthropicMessages.hasText(reply) && content.isEmpty()) {
      openText(events); // a message has at least one block
      events.add(delta("text_delta", TEXT, ""));
    }
    close(events);
    for (ChatCall call : reply.answer().calls()) {
      events.add(blockStart(AnthropicMessages.call(call)));
      events.add(delta("input_json_delta", "partial_json", call.arguments()));
      events.add(blockStop());
      index++;
    }
    ObjectNode end = JsonNodeFactory.instance.objectNode();
    AnthropicMessages.stop(end.putObject("delta"), reply);
    end.set("usage", AnthropicMessages.usage(start, reply.sampledTokens()));
    events.add(ServerEvent.typed("message_delta", end));
    events.add(ServerEvent.typed("message_stop", JsonNodeFactory.instance.objectNode()));
    return events;
  }

  private ServerEvent blockStart(ObjectNode block) {
    ObjectNode begun = JsonNodeFactory.instance.objectNode().put(INDEX, index);
    begun.set("content_block", block);
    return ServerEvent.typed("content_block_start", begun);
  }

  private ServerEvent delta(String type, String name, String text) {
    ObjectNode event = JsonNodeFactory.instance.objectNode().put(INDEX, index);
    event.set("delta", JsonNodeFactory.instance.objectNode().put(TYPE, type).put(name, text));
    return ServerEvent.typed("content_block_delta", event);
  }

  private ServerEvent blockStop() {
    return ServerEvent.typed(
        "content_block_stop", JsonNodeFactory.instance.objectNode().put(INDEX, index));
  }
}
