package io.troupe.gateway.dialog;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.troupe.environments.ToolCall;
import io.troupe.environments.format.ParsedToolCalls;
import io.troupe.environments.format.ToolFormat;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Reads sampled answers into reasoning, text and calls. */
final class ToolCallReader {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String THINK = "<think>";
  private static final String THOUGHT = "</think>";

  /** The parameter of a call whose tool the agent has not declared. */
  private static final String UNKNOWN_PARAMETER = "input";

  private ToolCallReader() {}

  /** Reads an answer; a call that cannot be read stays in the text. */
  static TurnReply.ParsedAnswer read(
      ToolFormat format, String answer, List<ToolDeclaration> tools) {
    List<ChatCall> calls = new ArrayList<>();
    String text = answer;
    if (!tools.isEmpty()) {
      ParsedToolCalls parsed = format.parse(answer);
      StringBuilder left = new StringBuilder(parsed.text());
      for (ToolCall call : parsed.calls()) {
        if (call.status() == ToolCall.Status.OK) {
          calls.add(new ChatCall("", call.name(), served(call, tools)));
        } else {
          left.append(call.arguments());
        }
      }
      text = left.toString();
    }
    int thought = text.lastIndexOf(THOUGHT);
    String reasoning = thought < 0 ? "" : text.substring(0, thought);
    String content = thought < 0 ? text : text.substring(thought + THOUGHT.length());
    int begun = reasoning.indexOf(THINK);
    return new TurnReply.ParsedAnswer(
        (begun < 0 ? reasoning : reasoning.substring(begun + THINK.length())).strip(),
        thought < 0 && calls.isEmpty() ? content : content.strip(),
        calls);
  }

  /**
   * The arguments as an agent reads them: what was sampled where that is JSON. A bare text is the
   * value of the tool's first parameter.
   */
  private static String served(ToolCall call, List<ToolDeclaration> tools) {
    if (call.arguments().startsWith("{")) {
      return call.arguments();
    }
    return JsonNodeFactory.instance
        .objectNode()
        .put(firstParameter(call.name(), tools), call.arguments())
        .toString();
  }

  static String firstParameter(String tool, List<ToolDeclaration> tools) {
    for (ToolDeclaration declared : tools) {
      if (declared.name().equals(tool)) {
        Iterator<String> names = tree(declared.parameters()).path("properties").fieldNames();
        return names.hasNext() ? names.next() : UNKNOWN_PARAMETER;
      }
    }
    return UNKNOWN_PARAMETER;
  }

  /** A text as JSON; a missing node where it is none. */
  static JsonNode tree(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException noJson) {
      return JsonNodeFactory.instance.missingNode();
    }
  }
}
