package io.troupe.gateway.dialog;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.troupe.core.prompt.ThoughtMarks;
import io.troupe.environments.ToolCall;
import io.troupe.environments.format.ParsedToolCalls;
import io.troupe.environments.format.PartialTag;
import io.troupe.environments.format.ThoughtSplit;
import io.troupe.environments.format.ToolFormat;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Reads sampled answers into reasoning, text and calls. */
final class ToolCallReader {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The parameter of a call whose tool the agent has not declared. */
  private static final String UNKNOWN_PARAMETER = "input";

  private ToolCallReader() {}

  /**
   * Reads an answer; a call that cannot be read stays in the text.
   *
   * @param thinksFirst whether the answer begins within thinking
   */
  static TurnReply.ParsedAnswer read(
      ToolFormat format, String answer, List<ToolDeclaration> tools, boolean thinksFirst) {
    ThoughtSplit split = ThoughtSplit.of(answer, thinksFirst);
    List<ChatCall> calls = new ArrayList<>();
    String text = split.rest();
    if (!tools.isEmpty()) {
      ParsedToolCalls parsed = format.parse(text);
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
    boolean bare = split.thought().isEmpty() && tools.isEmpty();
    return new TurnReply.ParsedAnswer(split.thought().strip(), bare ? text : text.strip(), calls);
  }

  /**
   * Reads the beginning of an answer, without what a later token may turn into something else: the
   * beginning of a tag, blanks at the end, all that may be a call.
   */
  static TurnReply.ParsedAnswer soFar(
      ToolFormat format, String beginning, List<ToolDeclaration> tools, boolean thinksFirst) {
    String lead = beginning.stripLeading();
    for (ThoughtMarks marks : ThoughtMarks.values()) {
      if (mayBecome(lead, marks.opens()) || mayBecome(lead, marks.closes())) {
        return new TurnReply.ParsedAnswer("", "", List.of());
      }
    }
    ThoughtSplit split = ThoughtSplit.of(beginning, thinksFirst);
    boolean bare = split.thought().isEmpty() && tools.isEmpty();
    String thought = split.thought();
    for (ThoughtMarks marks : ThoughtMarks.values()) {
      String shown =
          split.open() ? PartialTag.without(split.thought(), marks.closes()) : split.thought();
      thought = shown.length() < thought.length() ? shown : thought;
    }
    String text =
        tools.isEmpty() ? split.rest() : split.rest().substring(0, format.textEnd(split.rest()));
    return new TurnReply.ParsedAnswer(
        thought.strip(), bare ? text.stripTrailing() : text.strip(), List.of());
  }

  private static boolean mayBecome(String beginning, String mark) {
    return beginning.length() < mark.length() && mark.startsWith(beginning);
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
