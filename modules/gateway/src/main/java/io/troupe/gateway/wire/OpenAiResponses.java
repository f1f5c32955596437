package io.troupe.gateway.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.gateway.dialog.ChatCall;
import io.troupe.gateway.dialog.ChatMessage;
import io.troupe.gateway.dialog.ChatMessage.Role;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.dialog.ToolDeclaration;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnReply.Finish;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.dialog.TurnStart;
import io.troupe.gateway.fields.FieldTable;
import io.troupe.gateway.fields.RequestReader;
import io.troupe.gateway.fields.RequestRoute;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** OpenAI's {@code /v1/responses}; every request brings its whole conversation. */
public record OpenAiResponses() implements AgentDialect {
  private static final String TYPE = "type";
  static final String TEXT = "text";
  static final String STATUS = "status";
  static final String COMPLETED = "completed";
  static final String IN_PROGRESS = "in_progress";
  private static final String CONTENT = "content";
  private static final String MESSAGE = "message";
  static final String ARGUMENTS = "arguments";
  private static final String OUTPUT = "output";
  private static final String FUNCTION_CALL = "function_call";
  private static final String REASONING = "reasoning";

  /** Tools that OpenAI's server or the client runs by types of their own. */
  private static final Pattern UNOFFERED =
      Pattern.compile(
          "web_search|file_search|computer|code_interpreter|image_generation|local_shell|shell"
              + "|mcp|custom|apply_patch|tool_search|namespace");

  @Override
  public TurnRequest read(JsonNode body, RequestReader reader) throws MalformedTurnException {
    FieldTable.check(RequestRoute.RESPONSES, reader, body);
    String mode = RequestFields.toolChoice(body);
    TurnRequest request =
        new TurnRequest(
            RequestFields.text(body.path("model")),
            messages(body),
            mode.equals("none") ? List.of() : tools(body),
            body.path("parallel_tool_calls").asBoolean(true),
            RequestFields.tokens(body, "max_output_tokens"),
            List.of(),
            body.path("stream").asBoolean(false),
            true,
            RenderingFields.ofResponses(body));
    request.check();
    return request;
  }

  /** Tools that OpenAI's server would run, and free-form ones, are not offered. */
  private static List<ToolDeclaration> tools(JsonNode body) throws MalformedTurnException {
    List<ToolDeclaration> tools = new ArrayList<>();
    int index = 0;
    for (JsonNode tool : body.path("tools")) {
      String where = "tools[%d]".formatted(index++);
      if (tool.path(TYPE).asText().equals("function")) {
        tools.add(RequestFields.tool(tool, "parameters", where));
      } else {
        RequestFields.passOver(tool, UNOFFERED, where);
      }
    }
    return tools;
  }

  private static List<ChatMessage> messages(JsonNode body) throws MalformedTurnException {
    List<ChatMessage> messages = new ArrayList<>();
    String instructions = RequestFields.text(body.path("instructions"));
    if (!instructions.isEmpty()) {
      messages.add(ChatMessage.of(Role.SYSTEM, instructions));
    }
    JsonNode input = body.path("input");
    if (input.isTextual()) {
      messages.add(ChatMessage.of(Role.USER, input.textValue()));
      return messages;
    }
    AssistantItems open = new AssistantItems();
    int index = 0;
    for (JsonNode item : input) {
      String where = "input[%d]".formatted(index++);
      if (!open.take(item, where)) {
        open.flush(messages);
        messages.add(message(item, where));
      }
    }
    open.flush(messages);
    return messages;
  }

  private static ChatMessage message(JsonNode item, String where) throws MalformedTurnException {
    String type = item.path(TYPE).asText(MESSAGE);
    if (type.equals("function_call_output")) {
      return ChatMessage.tool(
          RequestFields.text(item.path("call_id")),
          RequestFields.content(item.path(OUTPUT), where),
          false);
    }
    String role = RequestFields.text(item.path("role"));
    String content = RequestFields.content(item.path(CONTENT), where);
    if (type.equals(MESSAGE) && role.equals("user")) {
      return ChatMessage.of(Role.USER, content);
    }
    if (type.equals(MESSAGE) && (role.equals("system") || role.equals("developer"))) {
      return ChatMessage.of(Role.SYSTEM, content);
    }
    throw new MalformedTurnException(
        where, "items of type '%s' and role '%s' are not served".formatted(type, role));
  }

  /** Items of one answer, which come one after the other. */
  private static final class AssistantItems {
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private final List<ChatCall> calls = new ArrayList<>();
    private boolean any;

    boolean take(JsonNode item, String where) throws MalformedTurnException {
      switch (item.path(TYPE).asText(MESSAGE)) {
        case REASONING ->
            reasoning.append(RequestFields.parts(item.path(CONTENT), "reasoning_text"));
        case FUNCTION_CALL ->
            calls.add(
                new ChatCall(
                    RequestFields.text(item.path("call_id")),
                    RequestFields.text(item.path("name")),
                    RequestFields.arguments(item.path(ARGUMENTS))));
        case MESSAGE -> {
          if (!item.path("role").asText().equals("assistant")) {
            return false;
          }
          text.append(RequestFields.content(item.path(CONTENT), where));
        }
        default -> {
          return false;
        }
      }
      any = true;
      return true;
    }

    void flush(List<ChatMessage> messages) {
      if (any) {
        messages.add(ChatMessage.assistant(text.toString(), reasoning.toString(), calls));
        text.setLength(0);
        reasoning.setLength(0);
        calls.clear();
        any = false;
      }
    }
  }

  @Override
  public ObjectNode whole(TurnReply reply, TurnRequest request) {
    boolean cut = reply.finish() == Finish.LENGTH;
    ObjectNode json = head(reply.start(), request, cut ? "incomplete" : COMPLETED);
    if (cut) {
      json.putObject("incomplete_details").put("reason", "max_output_tokens");
    }
    items(reply).forEach(json.putArray(OUTPUT)::add);
    ObjectNode usage = json.putObject("usage").put("input_tokens", reply.start().promptTokens());
    usage.putObject("input_tokens_details").put("cached_tokens", 0);
    usage.put("output_tokens", reply.sampledTokens());
    usage.putObject("output_tokens_details").put("reasoning_tokens", 0);
    usage.put("total_tokens", reply.start().promptTokens() + reply.sampledTokens());
    return json;
  }

  static ObjectNode head(TurnStart start, TurnRequest request, String status) {
    ObjectNode json =
        JsonNodeFactory.instance
            .objectNode()
            .put("id", "resp_t%d".formatted(start.number()))
            .put("object", "response")
            .put("created_at", start.createdSeconds())
            .put(STATUS, status)
            .put("model", request.model().isEmpty() ? "policy" : request.model())
            .put("parallel_tool_calls", request.parallelCalls())
            .put("tool_choice", "auto");
    json.putArray("tools");
    json.putNull("error").putNull("incomplete_details").putArray(OUTPUT);
    return json;
  }

  /** The items of an answer. */
  private static List<ObjectNode> items(TurnReply reply) {
    List<ObjectNode> items = new ArrayList<>();
    if (!reply.answer().reasoning().isEmpty()) {
      items.add(reasoning(reply.start(), reply.answer().reasoning(), COMPLETED));
    }
    if (hasMessage(reply)) {
      items.add(message(reply.start(), reply.answer().content(), COMPLETED));
    }
    reply.answer().calls().forEach(call -> items.add(call(call, COMPLETED)));
    return items;
  }

  static boolean hasMessage(TurnReply reply) {
    return !reply.answer().content().isEmpty() || reply.answer().calls().isEmpty();
  }

  /** Items have the same ids wherever they appear, and their content where they are complete. */
  static ObjectNode reasoning(TurnStart start, String text, String status) {
    ObjectNode item = item(REASONING, "rs_t%d".formatted(start.number()), status);
    item.putArray("summary");
    ArrayNode parts = item.putArray(CONTENT);
    if (status.equals(COMPLETED)) {
      parts.addObject().put(TYPE, "reasoning_text").put(TEXT, text);
    }
    return item.put("encrypted_content", "t%d".formatted(start.number()));
  }

  static ObjectNode message(TurnStart start, String text, String status) {
    ObjectNode item = item(MESSAGE, "msg_t%d".formatted(start.number()), status);
    ArrayNode parts = item.put("role", "assistant").putArray(CONTENT);
    if (status.equals(COMPLETED)) {
      parts.add(part(text));
    }
    return item;
  }

  static ObjectNode call(ChatCall call, String status) {
    return item(FUNCTION_CALL, "fc" + call.id().substring("call".length()), status)
        .put("call_id", call.id())
        .put("name", call.name())
        .put(ARGUMENTS, status.equals(COMPLETED) ? call.arguments() : "");
  }

  private static ObjectNode item(String type, String id, String status) {
    return JsonNodeFactory.instance.objectNode().put(TYPE, type).put("id", id).put(STATUS, status);
  }

  static ObjectNode part(String text) {
    ObjectNode part =
        JsonNodeFactory.instance.objectNode().put(TYPE, "output_text").put(TEXT, text);
    part.putArray("annotations");
    part.putArray("logprobs");
    return part;
  }

  @Override
  public AnswerStream stream(TurnStart start, TurnRequest request) {
    return new ResponseItems(start, request);
  }

  static ObjectNode response(ObjectNode response) {
    ObjectNode data = JsonNodeFactory.instance.objectNode();
    data.set("response", response);
    return data;
  }

  @Override
  public ObjectNode error(Refusal refusal) {
    return new ChatCompletions().error(refusal);
  }

  /** Codex takes a stream without this event for a broken connection, and asks again. */
  @Override
  public ServerEvent failure(Refusal refusal) {
    ObjectNode failed = JsonNodeFactory.instance.objectNode();
    failed.put("object", "response").put(STATUS, "failed").putArray(OUTPUT);
    failed.putObject("error").put("code", refusal.code()).put(MESSAGE, refusal.message());
    return ServerEvent.typed("response.failed", response(failed));
  }
}
