package io.troupe.gateway.dialog;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.chat.ChatTemplate;
import io.troupe.core.completion.FinishReason;
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
  /*
   * Special tokens come from the template only. A content that spells one is rendered as a private
   * character, in whose place its letters are encoded afterwards.
   */
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int PLACEHOLDERS = 0xE000;
  private static final int MOST_PLACEHOLDERS = 0x1000;

  /** Represents an answer whose continuation is wanted. */
  private static final String MARK = "\uF8FF";

  private static final String ROLE = "role";
  private static final String CONTENT = "content";

  /** Arguments with which tasks render their prompts, too. */
  static final Map<String, Object> WITHOUT_THINKING = Map.of("enable_thinking", false);

  @Override
  public int[] whole(List<ChatMessage> messages, List<ToolDeclaration> tools) {
    List<String> hidden = new ArrayList<>();
    String rendered = rendered(messages, tools, hidden);
    require(
        tools.isEmpty() || rendered.contains(tools.getFirst().name()),
        "the policy's chat template shows no tools; ask without tools, or train a policy whose"
            + " template does");
    return encoded(rendered, hidden);
  }

  private String rendered(
      List<ChatMessage> messages, List<ToolDeclaration> tools, List<String> hidden) {
    Map<String, Object> arguments = new HashMap<>(WITHOUT_THINKING);
    arguments.put("messages", messages.stream().map(message -> entry(message, hidden)).toList());
    if (!tools.isEmpty()) {
      arguments.put("tools", tools.stream().map(TemplateConversation::declared).toList());
    }
    return template.render(List.of(), true, arguments);
  }

  private Map<String, Object> entry(ChatMessage message, List<String> hidden) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put(ROLE, message.role().name().toLowerCase(Locale.ROOT));
    entry.put(CONTENT, shown(message.content(), hidden));
    if (!message.reasoning().isEmpty()) {
      entry.put("reasoning_content", shown(message.reasoning(), hidden));
    }
    if (!message.calls().isEmpty()) {
      entry.put("tool_calls", message.calls().stream().map(TemplateConversation::call).toList());
    }
    return entry;
  }

  private static Map<String, Object> call(ChatCall call) {
    JsonNode arguments = ToolCallReader.tree(call.arguments());
    Object value = arguments.isObject() ? map(arguments) : call.arguments();
    return Map.of(
        "type",
        "function",
        "id",
        call.id(),
        "function",
        Map.of("name", call.name(), "arguments", value));
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

  private String shown(String text, List<String> hidden) {
    boolean special =
        !Arrays.equals(tokenizer.encode(text), tokenizer.encodeWithSpecial(text))
            || text.codePoints().anyMatch(each -> each >= PLACEHOLDERS && each <= MARK.charAt(0));
    if (!special) {
      return text;
    }
    require(
        hidden.size() < MOST_PLACEHOLDERS,
        "more than %d messages spell special tokens of the policy",
        MOST_PLACEHOLDERS);
    hidden.add(text);
    return Character.toString(PLACEHOLDERS + hidden.size() - 1);
  }

  private int[] encoded(String rendered, List<String> hidden) {
    int[] ids = {};
    int from = 0;
    for (int at = 0; at < rendered.length(); at++) {
      int placeholder = rendered.charAt(at) - PLACEHOLDERS;
      if (placeholder >= 0 && placeholder < hidden.size()) {
        ids = joined(ids, tokenizer.encodeWithSpecial(rendered.substring(from, at)));
        ids = joined(ids, tokenizer.encode(hidden.get(placeholder)));
        from = at + 1;
      }
    }
    return joined(ids, tokenizer.encodeWithSpecial(rendered.substring(from)));
  }

  private static int[] joined(int[] ids, int[] more) {
    int[] both = Arrays.copyOf(ids, ids.length + more.length);
    System.arraycopy(more, 0, both, ids.length, more.length);
    return both;
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
            && !turn.answer().content().contains(ToolCallReader.THOUGHT)
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
    boolean ended = turn.completion().finishReason() == FinishReason.STOP;
    int[] ids = {};
    for (ToolFormat.Piece piece : format.observation(results, ended)) {
      ids =
          joined(
              ids,
              piece.special()
                  ? tokenizer.encodeWithSpecial(piece.text())
                  : tokenizer.encode(piece.text()));
    }
    return ids;
  }

  /** Returns the tokens that the template writes behind an answer, up to the next one. */
  private Optional<int[]> users(SessionBook.SampledTurn turn, List<ChatMessage> added) {
    List<ChatMessage> conversation = new ArrayList<>();
    conversation.add(ChatMessage.of(ChatMessage.Role.USER, "q"));
    conversation.add(ChatMessage.assistant("", "", List.of()));
    conversation.addAll(added);
    List<String> hidden = new ArrayList<>();
    List<Map<String, Object>> entries =
        new ArrayList<>(conversation.stream().map(message -> entry(message, hidden)).toList());
    entries.get(1).put(CONTENT, MARK);
    Map<String, Object> arguments = new HashMap<>(WITHOUT_THINKING);
    arguments.put("messages", entries);
    String rendered = template.render(List.of(), true, arguments);
    int mark = rendered.lastIndexOf(MARK);
    if (mark < 0) {
      return Optional.empty();
    }
    int[] ids = encoded(rendered.substring(mark + 1), hidden);
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
