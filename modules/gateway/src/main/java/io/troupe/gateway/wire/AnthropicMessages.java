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
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.dialog.TurnStart;
import io.troupe.gateway.fields.FieldTable;
import io.troupe.gateway.fields.RequestReader;
import io.troupe.gateway.fields.RequestRoute;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Anthropic's {@code /v1/messages}. */
public record AnthropicMessages() implements AgentDialect {
  /**
   * Lines at the head of a system text that Claude Code writes again with every request; with them
   * no conversation would continue another.
   */
  private static final Pattern ATTRIBUTION = Pattern.compile("\\A(?:x-anthropic-[a-z-]+:.*\\R?)+");

  static final String TYPE = "type";
  static final String CONTENT = "content";
  static final String TEXT = "text";
  static final String THINKING = "thinking";
  private static final String TOOL_USE = "tool_use";
  static final String STOP_REASON = "stop_reason";
  static final String STOP_SEQUENCE = "stop_sequence";

  /** Tools that Anthropic's server or the client runs by types of their own. */
  private static final Pattern UNOFFERED =
      Pattern.compile(
          "web_search_|web_fetch_|code_execution_|computer_|bash_|text_editor_|memory_"
              + "|tool_search_|mcp_toolset|advisor_");

  @Override
  public TurnRequest read(JsonNode body, RequestReader reader) throws MalformedTurnException {
    FieldTable.check(RequestRoute.MESSAGES, reader, body);
    List<ChatMessage> messages = new ArrayList<>();
    String system = system(body.path("system"));
    if (!system.isEmpty()) {
      messages.add(ChatMessage.of(Role.SYSTEM, system));
    }
    int index = 0;
    for (JsonNode message : body.path("messages")) {
      add(message, messages, "messages[%d]".formatted(index++));
    }
    JsonNode choice = body.path("tool_choice");
    String mode = RequestFields.toolChoice(body);
    TurnRequest request =
        new TurnRequest(
            RequestFields.text(body.path("model")),
            messages,
            mode.equals("none") ? List.of() : tools(body),
            !choice.path("disable_parallel_tool_use").asBoolean(false),
            RequestFields.tokens(body, "max_tokens"),
            RequestFields.stops(body.path("stop_sequences")),
            body.path("stream").asBoolean(false),
            true,
            RenderingFields.ofMessages(body, messages));
    request.check();
    return request;
  }

  private static String system(JsonNode system) throws MalformedTurnException {
    if (!system.isArray()) {
      return withoutAttribution(RequestFields.content(system, "system"));
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode block : system) {
      text.append(withoutAttribution(RequestFields.part(block, "system")));
    }
    return text.toString();
  }

  private static String withoutAttribution(String text) {
    return ATTRIBUTION.matcher(text).replaceFirst("");
  }

  /** Tools that the server of Anthropic would run have no schema, and are not offered. */
  private static List<ToolDeclaration> tools(JsonNode body) throws MalformedTurnException {
    List<ToolDeclaration> tools = new ArrayList<>();
    int index = 0;
    for (JsonNode tool : body.path("tools")) {
      String where = "tools[%d]".formatted(index++);
      if (tool.has("input_schema")) {
        tools.add(RequestFields.tool(tool, "input_schema", where));
      } else {
        RequestFields.passOver(tool, UNOFFERED, where);
      }
    }
    return tools;
  }

  private static void add(JsonNode message, List<ChatMessage> messages, String where)
      throws MalformedTurnException {
    String role = RequestFields.text(message.path("role"));
    JsonNode content = message.path(CONTENT);
    switch (role) {
      case "user" -> addUser(content, messages, where);
      case "system" ->
          messages.add(ChatMessage.of(Role.SYSTEM, RequestFields.content(content, where)));
      case "assistant" -> messages.add(assistant(content, where));
      default -> throw new MalformedTurnException(where, "no role '%s'".formatted(role));
    }
  }

  /** Results are messages of tools, in order; the rest is one message behind them. */
  private static void addUser(JsonNode content, List<ChatMessage> messages, String where)
      throws MalformedTurnException {
    ArrayNode rest = JsonNodeFactory.instance.arrayNode();
    int results = 0;
    for (JsonNode block : content.isArray() ? content : rest) {
      if (block.path(TYPE).asText().equals("tool_result")) {
        results++;
        messages.add(
            ChatMessage.tool(
                RequestFields.text(block.path("tool_use_id")),
                RequestFields.content(block.path(CONTENT), where),
                block.path("is_error").asBoolean(false)));
      } else {
        rest.add(block);
      }
    }
    if (!rest.isEmpty() || results == 0) {
      String text = RequestFields.content(content.isArray() ? rest : content, where);
      messages.add(ChatMessage.of(Role.USER, text));
    }
  }

  private static ChatMessage assistant(JsonNode content, String where)
      throws MalformedTurnException {
    if (!content.isArray()) {
      return ChatMessage.assistant(RequestFields.content(content, where), "", List.of());
    }
    StringBuilder text = new StringBuilder();
    StringBuilder reasoning = new StringBuilder();
    List<ChatCall> calls = new ArrayList<>();
    for (JsonNode block : content) {
      switch (block.path(TYPE).asText()) {
        case TEXT -> text.append(RequestFields.text(block.path(TEXT)));
        case THINKING -> reasoning.append(RequestFields.text(block.path(THINKING)));
        case "redacted_thinking" -> {}
        case TOOL_USE ->
            calls.add(
                new ChatCall(
                    RequestFields.text(block.path("id")),
                    RequestFields.text(block.path("name")),
                    RequestFields.arguments(block.path("input"))));
        default ->
            throw new MalformedTurnException(
                where, "blocks of type '%s' are not served".formatted(block.path(TYPE).asText()));
      }
    }
    return ChatMessage.assistant(text.toString(), reasoning.toString(), calls);
  }

  @Override
  public ObjectNode whole(TurnReply reply, TurnRequest request) {
    ObjectNode json = head(reply.start(), request);
    ArrayNode blocks = json.putArray(CONTENT);
    if (!reply.answer().reasoning().isEmpty()) {
      blocks.add(thinking(reply.start(), reply.answer().reasoning()));
    }
    if (hasText(reply)) {
      blocks.addObject().put(TYPE, TEXT).put(TEXT, reply.answer().content());
    }
    for (ChatCall call : reply.answer().calls()) {
      ObjectNode block = call(call);
      block.set("input", RequestFields.json(call.arguments()));
      blocks.add(block);
    }
    stop(json, reply);
    json.set("usage", usage(reply.start(), reply.sampledTokens()));
    return json;
  }

  /** A message has at least one block. */
  static boolean hasText(TurnReply reply) {
    return !reply.answer().content().isEmpty() || reply.answer().calls().isEmpty();
  }

  static ObjectNode head(TurnStart start, TurnRequest request) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("id", "msg_t%d".formatted(start.number()))
        .put(TYPE, "message")
        .put("role", "assistant")
        .put("model", request.model().isEmpty() ? "policy" : request.model());
  }

  static ObjectNode thinking(TurnStart start, String text) {
    return JsonNodeFactory.instance
        .objectNode()
        .put(TYPE, THINKING)
        .put(THINKING, text)
        .put("signature", text.isEmpty() ? "" : signature(start));
  }

  static String signature(TurnStart start) {
    return "t%d".formatted(start.number());
  }

  static ObjectNode call(ChatCall call) {
    ObjectNode block = JsonNodeFactory.instance.objectNode();
    block.put(TYPE, TOOL_USE).put("id", call.id()).put("name", call.name()).putObject("input");
    return block;
  }

  static void stop(ObjectNode json, TurnReply reply) {
    String reason =
        switch (reply.finish()) {
          case LENGTH -> "max_tokens";
          case TOOL_CALLS -> TOOL_USE;
          case STOP -> reply.stop().isEmpty() ? "end_turn" : STOP_SEQUENCE;
        };
    json.put(STOP_REASON, reason);
    if (reason.equals(STOP_SEQUENCE)) {
      json.put(STOP_SEQUENCE, reply.stop());
    } else {
      json.putNull(STOP_SEQUENCE);
    }
  }

  static ObjectNode usage(TurnStart start, int sampledTokens) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("input_tokens", start.promptTokens())
        .put("cache_creation_input_tokens", 0)
        .put("cache_read_input_tokens", 0)
        .put("output_tokens", sampledTokens);
  }

  @Override
  public AnswerStream stream(TurnStart start, TurnRequest request) {
    return new MessageBlocks(start, request);
  }

  @Override
  public ObjectNode error(Refusal refusal) {
    ObjectNode json = JsonNodeFactory.instance.objectNode().put(TYPE, "error");
    json.putObject("error")
        .put(
            TYPE,
            switch (refusal.status()) {
              case 401, 403 -> "authentication_error";
              case 404 -> "not_found_error";
              case 413 -> "request_too_large";
              case 429 -> "rate_limit_error";
              case 503 -> "overloaded_error";
              default -> refusal.status() >= 500 ? "api_error" : "invalid_request_error";
            })
        .put("message", refusal.message());
    return json;
  }
}
