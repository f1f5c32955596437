package io.troupe.gateway.wire;

import static io.troupe.gateway.wire.OpenAiResponses.ARGUMENTS;
import static io.troupe.gateway.wire.OpenAiResponses.COMPLETED;
import static io.troupe.gateway.wire.OpenAiResponses.IN_PROGRESS;
import static io.troupe.gateway.wire.OpenAiResponses.STATUS;
import static io.troupe.gateway.wire.OpenAiResponses.TEXT;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.gateway.dialog.ChatCall;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.dialog.TurnStart;
import java.util.ArrayList;
import java.util.List;

/** The items of a response: reasoning, message, calls, one after the other. */
final class ResponseItems implements AnswerStream {
  private static final String DELTA = "delta";

  private enum Open {
    NONE,
    REASONING,
    MESSAGE
  }

  private final TurnStart start;
  private final TurnRequest request;
  private final SentText reasoning = new SentText();
  private final SentText content = new SentText();
  private Open open = Open.NONE;
  private int index;
  private int events;

  ResponseItems(TurnStart start, TurnRequest request) {
    this.start = start;
    this.request = request;
  }

  @Override
  public List<ServerEvent> begin() {
    return List.of(event("response.created", begun()), alive());
  }

  /** Codex ends a stream without an event for 5 minutes. */
  @Override
  public ServerEvent alive() {
    return event("response.in_progress", begun());
  }

  private ObjectNode begun() {
    return OpenAiResponses.response(OpenAiResponses.head(start, request, IN_PROGRESS));
  }

  @Override
  public List<ServerEvent> grow(ParsedAnswer soFar) {
    List<ServerEvent> news = new ArrayList<>();
    String thought = reasoning.next(soFar.reasoning());
    if (!thought.isEmpty()) {
      if (open == Open.NONE) {
        open = Open.REASONING;
        news.add(added(OpenAiResponses.reasoning(start, "", IN_PROGRESS)));
      }
      news.add(event("response.reasoning_text.delta", within().put(DELTA, thought)));
    }
    String text = content.next(soFar.content());
    if (!text.isEmpty()) {
      openMessage(news, soFar.reasoning());
      news.add(textDelta(text));
    }
    return news;
  }

  private void openMessage(List<ServerEvent> news, String thought) {
    if (open != Open.MESSAGE) {
      endReasoning(news, thought);
      open = Open.MESSAGE;
      news.add(added(OpenAiResponses.message(start, "", IN_PROGRESS)));
      news.add(
          event("response.content_part.added", within().set("part", OpenAiResponses.part(""))));
    }
  }

  private ServerEvent textDelta(String text) {
    ObjectNode delta = within().put(DELTA, text);
    delta.putArray("logprobs");
    return event("response.output_text.delta", delta);
  }

  private void endReasoning(List<ServerEvent> news, String thought) {
    if (open == Open.REASONING) {
      news.add(event("response.reasoning_text.done", within().put(TEXT, thought)));
      end(news, OpenAiResponses.reasoning(start, thought, COMPLETED));
    }
  }

  private void endMessage(List<ServerEvent> news, String text) {
    ObjectNode done = within().put(TEXT, text);
    done.putArray("logprobs");
    news.add(event("response.output_text.done", done));
    news.add(event("response.content_part.done", within().set("part", OpenAiResponses.part(text))));
    end(news, OpenAiResponses.message(start, text, COMPLETED));
  }

  private void end(List<ServerEvent> news, ObjectNode item) {
    news.add(event("response.output_item.done", at().set("item", item)));
    open = Open.NONE;
    index++;
  }

  @Override
  public List<ServerEvent> end(TurnReply reply) {
    List<ServerEvent> news = new ArrayList<>(grow(reply.answer()));
    if (OpenAiResponses.hasMessage(reply)) {
      if (content.isEmpty()) {
        openMessage(news, reply.answer().reasoning());
        news.add(textDelta(""));
      }
      endMessage(news, reply.answer().content());
    }
    endReasoning(news, reply.answer().reasoning());
    reply.answer().calls().forEach(call -> addCall(news, call));
    ObjectNode whole = new OpenAiResponses().whole(reply, request);
    news.add(event("response." + whole.path(STATUS).textValue(), OpenAiResponses.response(whole)));
    return news;
  }

  private void addCall(List<ServerEvent> news, ChatCall call) {
    ObjectNode item = OpenAiResponses.call(call, IN_PROGRESS);
    news.add(added(item));
    String id = item.path("id").textValue();
    news.add(
        event(
            "response.function_call_arguments.delta",
            at().put("item_id", id).put(DELTA, call.arguments())));
    news.add(
        event(
            "response.function_call_arguments.done",
            at().put("item_id", id).put(ARGUMENTS, call.arguments())));
    end(news, OpenAiResponses.call(call, COMPLETED));
  }

  private ServerEvent added(ObjectNode item) {
    return event("response.output_item.added", at().set("item", item));
  }

  private ObjectNode at() {
    return JsonNodeFactory.instance.objectNode().put("output_index", index);
  }

  /** Returns an event about the part of the open item. */
  private ObjectNode within() {
    ObjectNode item =
        open == Open.REASONING
            ? OpenAiResponses.reasoning(start, "", IN_PROGRESS)
            : OpenAiResponses.message(start, "", IN_PROGRESS);
    return at().put("item_id", item.path("id").textValue()).put("content_index", 0);
  }

  private ServerEvent event(String type, JsonNode data) {
    ObjectNode numbered = data.deepCopy();
    return ServerEvent.typed(type, numbered.put("sequence_number", events++));
  }
}
