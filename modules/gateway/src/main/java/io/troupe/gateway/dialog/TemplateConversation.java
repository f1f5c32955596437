package io.troupe.gateway.dialog;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.chat.ChatTemplate;
import io.troupe.core.prompt.ThoughtMarks;
import io.troupe.engine.ForeignTexts;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.format.ToolFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Conversations of a policy with a chat template.
 *
 * <p>Results of calls, and messages of a user behind an answer that did not think, are added behind
 * the sampled ids. Where the template would drop thinking from the history, which it does behind a
 * user's message, the whole is rendered, as the policy sees it outside of training.
 *
 * @param template that shows declared tools
 * @param format format of the policy's calls of tools; it shows results as the template does
 */
public record TemplateConversation(Tokenizer tokenizer, ChatTemplate template, ToolFormat format)
    implements Conversation {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Represents an answer whose continuation is wanted. */
  private static final String MARK = "\uF8FF";

  private static final String ROLE = "role";
  private static final String CONTENT = "content";

  /** Arguments with which tasks render their prompts, too. */
  static final Map<String, Object> WITHOUT_THINKING = Map.of("enable_thinking", false);

  @Override
  public int[] whole(List<ChatMessage> messages, List<ToolDeclaration> tools) {
    ForeignTexts foreign = new ForeignTexts(tokenizer);
    String rendered = rendered(messages, tools, foreign);
    require(
        tools.isEmpty() || rendered.contains(tools.getFirst().name()),
        "the policy's chat template shows no tools; ask without tools, or train a policy whose"
            + " template does");
    return foreign.encoded(rendered);
  }

  private String rendered(
      List<ChatMessage> messages, List<ToolDeclaration> tools, ForeignTexts foreign) {
    Map<String, Object> arguments = new HashMap<>(WITHOUT_THINKING);
    arguments.put("messages", messages.stream().map(message -> entry(message, foreign)).toList());
    if (!tools.isEmpty()) {
      arguments.put("tools", tools.stream().map(TemplateConversation::declared).toList());
    }
    return template.render(List.of(), true, arguments);
  }

  private Map<String, Object> entry(ChatMessage message, ForeignTexts foreign) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put(ROLE, message.role().name().toLowerCase(Locale.ROOT));
    entry.put(CONTENT, foreign.shown(message.content()));
    if (!message.reasoning().isEmpty()) {
      entry.put("reasoning_content", foreign.shown(message.reasoning()));
    }
    if (!message.calls().isEmpty()) {
      entry.put("tool_calls", message.calls().stream().map(TemplateConversation::call).toList());
    }
    return entry;
  }

  private static Map<String, Object> call(ChatCall call) {
    JsonNode arguments = ToolCallReader.tree(call.arguments());
    Object value = arguments.isObject() ? map(arguments) : call.arguments();
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", call.name());
    function.put("arguments", value);
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("id", call.id());
    entry.put("type", "function");
    entry.put("function", function);
    return entry;
  }

  static Map<String, Object> declared(ToolDeclaration tool) {
    Map<String, Object> function = new LinkedHashMap<>();
    function.put("name", tool.name());
    function.put("description", tool.description());
    function.put("parameters", map(ToolCallReader.tree(tool.parameters())));
    Map<String, Object> declared = new LinkedHashMap<>();
    declared.put("type", "function");
    declared.put("function", function);
    return declared;
  }

  private static Map<String, Object> map(JsonNode object) {
    return object.isObject()
        ? JSON.convertValue(object, new TypeReference<LinkedHashMap<String, Object>>() {})
        : Map.of();
  }

  @Override
  public Optional<int[]> following(SessionBook.SampledTurn turn, List<ChatMessage> added) {
    if (added.isEmpty()) {
      return Optional.empty();
    }
    if (added.stream().allMatch(message -> message.role() == ChatMessage.Role.TOOL)) {
      return Optional.of(results(turn, added));
    }
    boolean plain =
        turn.answer().reasoning().isEmpty()
            && !turn.answer().content().contains(ThoughtMarks.THINK.closes())
            && turn.answer().calls().isEmpty()
            && added.stream().allMatch(message -> message.role() == ChatMessage.Role.USER);
    return plain ? users(turn, added) : Optional.empty();
  }

  private int[] results(SessionBook.SampledTurn turn, List<ChatMessage> added) {
    List<String> order = turn.answer().calls().stream().map(ChatCall::id).toList();
    List<String> results =
        added.stream()
            .sorted(Comparator.comparingInt(message -> order.indexOf(message.callId())))
            .map(ChatMessage::content)
            .toList();
    return Observation.ids(tokenizer, format, results, turn.completion());
  }

  /** Returns the tokens that the template writes behind an answer, up to the next one. */
  private Optional<int[]> users(SessionBook.SampledTurn turn, List<ChatMessage> added) {
    List<ChatMessage> conversation = new ArrayList<>();
    conversation.add(ChatMessage.of(ChatMessage.Role.USER, "q"));
    conversation.add(ChatMessage.assistant("", "", List.of()));
    conversation.addAll(added);
    ForeignTexts foreign = new ForeignTexts(tokenizer);
    List<Map<String, Object>> entries =
        new ArrayList<>(conversation.stream().map(message -> entry(message, foreign)).toList());
    entries.get(1).put(CONTENT, MARK);
    Map<String, Object> arguments = new HashMap<>(WITHOUT_THINKING);
    arguments.put("messages", entries);
    String rendered = template.render(List.of(), true, arguments);
    int mark = rendered.lastIndexOf(MARK);
    if (mark < 0) {
      return Optional.empty();
    }
    int[] ids = foreign.encoded(rendered.substring(mark + 1));
    int[] sampled = turn.completion().tokens();
    boolean closed = ids.length > 0 && ids[0] == sampled[sampled.length - 1];
    return Optional.of(closed ? Arrays.copyOfRange(ids, 1, ids.length) : ids);
  }

  @Override
  public List<String> stops() {
    return format.stops();
  }

  @Override
  public TurnReply.ParsedAnswer parse(String answer, List<ToolDeclaration> tools) {
    return ToolCallReader.read(format, answer, tools, thinksFirst());
  }

  @Override
  public TurnReply.ParsedAnswer soFar(String beginning, List<ToolDeclaration> tools) {
    return ToolCallReader.soFar(format, beginning, tools, thinksFirst());
  }

  /** Whether the template begins the thinking of an answer. */
  private boolean thinksFirst() {
    Map<String, Object> arguments = new HashMap<>(WITHOUT_THINKING);
    arguments.put("messages", List.of(Map.of(ROLE, "user", CONTENT, "q")));
    return template.render(List.of(), true, arguments).stripTrailing().endsWith("<think>");
  }
}
