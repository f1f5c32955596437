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
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** OpenAI's {@code /v1/chat/completions}. */
public record ChatCompletions() implements AgentDialect {
  private static final String FUNCTION = "function";
  static final String CONTENT = "content";
  static final String FINISH = "finish_reason";
  static final String REASONING = "reasoning_content";

  @Override
  public TurnRequest read(JsonNode body, RequestReader reader) throws MalformedTurnException {
    FieldTable.check(RequestRoute.CHAT, reader, body);
    return request(body);
  }

  /**
   * Reads the conversation of a request whose fields are checked.
   *
   * @throws MalformedTurnException if it has none
   */
  public static TurnRequest request(JsonNode body) throws MalformedTurnException {
    List<ChatMessage> messages = new ArrayList<>();
    for (JsonNode message : body.path("messages")) {
      messages.add(message(message, "messages[%d]".formatted(messages.size())));
    }
    TurnRequest request =
        new TurnRequest(
            RequestFields.text(body.path("model")),
            messages,
            tools(body),
            body.path("parallel_tool_calls").asBoolean(true),
            RequestFields.tokens(body, "max_completion_tokens", "max_tokens"),
            RequestFields.stops(body.path("stop")),
            body.path("stream").asBoolean(false),
            body.path("stream_options").path("include_usage").asBoolean(false),
            RenderingFields.ofChat(body));
    request.check();
    return request;
  }

  private static List<ToolDeclaration> tools(JsonNode body) throws MalformedTurnException {
    String mode = RequestFields.toolChoice(body);
    List<ToolDeclaration> tools = new ArrayList<>();
    if (!mode.equals("none")) {
      for (JsonNode tool : body.path("tools")) {
        String where = "tools[%d]".formatted(tools.size());
        if (!tool.path("type").asText(FUNCTION).equals(FUNCTION)) {
          throw new MalformedTurnException(where, "only tools of type function are served");
        }
        tools.add(RequestFields.tool(tool.path(FUNCTION), "parameters", where));
      }
    }
    return tools;
  }

  private static ChatMessage message(JsonNode message, String where) throws MalformedTurnException {
    return unnamed(message, where).named(RequestFields.text(message.path("name")));
  }

  private static ChatMessage unnamed(JsonNode message, String where) throws MalformedTurnException {
    String content = RequestFields.content(message.path(CONTENT), where);
    String role = RequestFields.text(message.path("role"));
    return switch (role) {
      case "system", "developer" -> ChatMessage.of(Role.SYSTEM, content);
      case "user" -> ChatMessage.of(Role.USER, content);
      case "tool" ->
          ChatMessage.tool(RequestFields.text(message.path("tool_call_id")), content, false);
      case "assistant" -> {
        List<ChatCall> calls = new ArrayList<>();
        for (JsonNode call : message.path("tool_calls")) {
          calls.add(
              new ChatCall(
                  RequestFields.text(call.path("id")),
                  RequestFields.text(call.path(FUNCTION).path("name")),
                  RequestFields.arguments(call.path(FUNCTION).path("arguments"))));
        }
        yield ChatMessage.assistant(content, reasoning(message), calls);
      }
      default -> throw new MalformedTurnException(where, "no role '%s'".formatted(role));
    };
  }

  /** A thought by either of its names; an empty one where no name has another. */
  private static List<String> reasoning(JsonNode message) {
    return Stream.of(REASONING, "reasoning")
        .map(message::path)
        .filter(JsonNode::isTextual)
        .map(JsonNode::textValue)
        .max(Comparator.comparing(thought -> !thought.isEmpty()))
        .stream()
        .toList();
  }

  @Override
  public ObjectNode whole(TurnReply reply, TurnRequest request) {
    ObjectNode json = head(reply.start(), request, "chat.completion");
    ObjectNode choice = json.putArray("choices").addObject().put("index", 0);
    choice.put(FINISH, finish(reply)).putNull("logprobs");
    ObjectNode message = choice.putObject("message").put("role", "assistant");
    content(message, reply);
    reasoning(message, reply);
    if (!reply.answer().calls().isEmpty()) {
      ArrayNode calls = message.putArray("tool_calls");
      reply.answer().calls().forEach(call -> calls.add(call(call)));
    }
    json.set("usage", usage(reply));
    return json;
  }

  static ObjectNode head(TurnStart start, TurnRequest request, String object) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("id", "chatcmpl-t%d".formatted(start.number()))
        .put("object", object)
        .put("created", start.createdSeconds())
        .put("model", request.model().isEmpty() ? "policy" : request.model());
  }

  /** Beside calls, null where there is no text: some clients split a message with both in two. */
  private static void content(ObjectNode message, TurnReply reply) {
    String content = reply.answer().content();
    if (content.isEmpty() && !reply.answer().calls().isEmpty()) {
      message.putNull(CONTENT);
    } else {
      message.put(CONTENT, content);
    }
  }

  private static void reasoning(ObjectNode message, TurnReply reply) {
    if (!reply.answer().reasoning().isEmpty()) {
      message.put(REASONING, reply.answer().reasoning());
    }
  }

  static ObjectNode call(ChatCall call) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("id", call.id()).put("type", FUNCTION);
    json.putObject(FUNCTION).put("name", call.name()).put("arguments", call.arguments());
    return json;
  }

  static String finish(TurnReply reply) {
    return reply.finish().name().toLowerCase(Locale.ROOT);
  }

  static ObjectNode usage(TurnReply reply) {
    ObjectNode usage = JsonNodeFactory.instance.objectNode();
    usage
        .put("prompt_tokens", reply.start().promptTokens())
        .put("completion_tokens", reply.sampledTokens())
        .put("total_tokens", reply.start().promptTokens() + reply.sampledTokens());
    usage.putObject("prompt_tokens_details").put("cached_tokens", 0);
    return usage;
  }

  @Override
  public AnswerStream stream(TurnStart start, TurnRequest request) {
    return new ChatChunks(start, request);
  }

  @Override
  public ObjectNode error(Refusal refusal) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    ObjectNode error = json.putObject("error").put("message", refusal.message());
    error.put("type", refusal.status() >= 500 ? "server_error" : "invalid_request_error");
    if (refusal.parameter().isEmpty()) {
      error.putNull("param");
    } else {
      error.put("param", refusal.parameter());
    }
    error.put("code", refusal.code());
    return json;
  }
}
