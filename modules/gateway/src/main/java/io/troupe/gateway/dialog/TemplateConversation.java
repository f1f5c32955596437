package io.troupe.gateway.dialog;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.chat.ChatTemplate;
import io.troupe.chat.Thinking;
import io.troupe.chat.TurnEnd;
import io.troupe.core.prompt.OpenThought;
import io.troupe.core.prompt.ThoughtMarks;
import io.troupe.engine.ForeignTexts;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.format.ToolFormat;
import io.troupe.gateway.dialog.TurnRendering.Ending;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Conversations of a policy with a chat template.
 *
 * <p>Results of calls, and messages of a user behind an answer that did not think, are added behind
 * the sampled ids. Where the template would drop thinking from the history, which it does behind a
 * user's message, the whole is rendered, as the policy sees it outside of training.
 *
 * @param format format of the policy's calls of tools; it shows results as the template does
 * @param template that shows declared tools, and has the policy's choice of thinking
 * @param turnEnd what the template writes behind every answer
 * @param asked the request that is answered; empty for what holds of all
 */
public record TemplateConversation(
    Tokenizer tokenizer,
    ChatTemplate template,
    ToolFormat format,
    TurnEnd turnEnd,
    Optional<TurnRequest> asked)
    implements Conversation {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Represents an answer whose continuation is wanted. */
  private static final String MARK = "\uF8FF";

  private static final String ROLE = "role";
  private static final String CONTENT = "content";

  private static final String EFFORT = "reasoning_effort";

  /** Variables that a request gives by fields of their own. */
  private static final Set<String> OWN =
      Set.of("messages", "tools", "documents", "add_generation_prompt", "continue_final_message");

  /** Conversations that are shown alike, whoever asks. */
  public TemplateConversation(Tokenizer tokenizer, ChatTemplate template, ToolFormat format) {
    this(
        tokenizer,
        TemplateFormats.decided(template),
        format,
        TurnEnd.of(TemplateFormats.decided(template), tokenizer),
        Optional.empty());
  }

  private TurnRendering rendering() {
    return asked.map(TurnRequest::rendering).orElse(TurnRendering.PLAIN);
  }

  @Override
  public Optional<TurnRendering.Objection> objection(TurnRequest request) {
    TurnRendering wanted = request.rendering();
    Optional<TurnRendering.Objection> thought =
        wanted.thinking().flatMap(wish -> objection(wish.field(), wish.thinking()));
    return thought
        .or(() -> wanted.effort().flatMap(this::objection))
        .or(
            () ->
                wanted.arguments().keySet().stream()
                    .filter(name -> OWN.contains(name) || !isVariable(name))
                    .findFirst()
                    .map(TemplateConversation::noVariable));
  }

  private boolean isVariable(String name) {
    return Thinking.AUTO.arguments().containsKey(name) || template.mentions(name);
  }

  private static TurnRendering.Objection noVariable(String name) {
    return new TurnRendering.Objection(
        "chat_template_kwargs." + name,
        OWN.contains(name)
            ? "it has a field of its own"
            : "the chat template has no variable of this name; leave it out");
  }

  /** A policy whose template never opens a thought does not think, as it is told. */
  private Optional<TurnRendering.Objection> objection(String field, Thinking wish) {
    return wish.objection(template)
        .filter(_ -> wish == Thinking.TRUE || Thinking.TRUE.objection(template).isEmpty())
        .map(why -> new TurnRendering.Objection(field, why));
  }

  private Optional<TurnRendering.Objection> objection(TurnRendering.EffortWish wish) {
    if (template.mentions(EFFORT)) {
      return Optional.empty();
    }
    return wish.thinks()
        ? objection(wish.field(), thinking(wish))
        : Optional.of(
            new TurnRendering.Objection(
                wish.field(), "the chat template knows no effort; leave it out"));
  }

  private static Thinking thinking(TurnRendering.EffortWish wish) {
    return Thinking.of(!wish.effort().equals(TurnRendering.EffortWish.NONE));
  }

  @Override
  public Conversation answering(TurnRequest request) {
    return new TemplateConversation(tokenizer, template, format, turnEnd, Optional.of(request));
  }

  /** Variables of the template that the request sets. */
  private Map<String, Object> arguments() {
    Map<String, Object> arguments = new HashMap<>();
    rendering()
        .effort()
        .ifPresent(
            wish -> {
              if (wish.thinks()) {
                arguments.putAll(thinking(wish).arguments());
              }
              if (template.mentions(EFFORT)) {
                arguments.put(EFFORT, wish.effort());
              }
            });
    rendering().thinking().ifPresent(wish -> arguments.putAll(wish.thinking().arguments()));
    arguments.putAll(rendering().arguments());
    return arguments;
  }

  @Override
  public int[] whole(List<ChatMessage> messages, List<ToolDeclaration> tools) {
    ForeignTexts foreign = new ForeignTexts(tokenizer);
    boolean within = rendering().ending() == Ending.WITHIN_LAST;
    String shown =
        within ? continued(messages, tools, foreign) : rendered(messages, tools, foreign);
    String rendered = rendering().textStart() ? tokenizer.withTextStart(shown) : shown;
    require(
        tools.isEmpty() || rendered.contains(tools.getFirst().name()),
        "the policy's chat template shows no tools; ask without tools, or train a policy whose"
            + " template does");
    return foreign.encoded(rendered);
  }

  private String rendered(
      List<ChatMessage> messages, List<ToolDeclaration> tools, ForeignTexts foreign) {
    return rendered(entries(messages, foreign), tools);
  }

  private List<Map<String, Object>> entries(List<ChatMessage> messages, ForeignTexts foreign) {
    return messages.stream().map(message -> entry(message, foreign)).toList();
  }

  private String rendered(List<Map<String, Object>> entries, List<ToolDeclaration> tools) {
    Map<String, Object> arguments = arguments();
    arguments.put("messages", entries);
    if (!tools.isEmpty()) {
      arguments.put("tools", tools.stream().map(TemplateConversation::declared).toList());
    }
    return template.render(List.of(), rendering().ending() == Ending.NEXT_MESSAGE, arguments);
  }

  /**
   * The text up to the end of the last message, as transformers shows a message that is continued:
   * blanks at its end are kept where the template keeps them.
   */
  private String continued(
      List<ChatMessage> messages, List<ToolDeclaration> tools, ForeignTexts foreign) {
    List<Map<String, Object>> entries = entries(messages, foreign);
    String said = String.valueOf(entries.getLast().get(CONTENT));
    String words = said.stripTrailing();
    String blanks = said.substring(words.length());
    entries.getLast().put(CONTENT, words + MARK);
    String marked = rendered(entries, tools);
    int mark = marked.lastIndexOf(MARK);
    require(mark >= 0, "the policy's chat template does not show the last message");
    String begun = marked.substring(0, mark);
    entries.getLast().put(CONTENT, said);
    return rendered(entries, tools).startsWith(begun + blanks) ? begun + blanks : begun;
  }

  private Map<String, Object> entry(ChatMessage message, ForeignTexts foreign) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put(ROLE, message.role().name().toLowerCase(Locale.ROOT));
    entry.put(CONTENT, foreign.shown(message.content()));
    message.reasoning().forEach(thought -> entry.put("reasoning_content", foreign.shown(thought)));
    if (!message.name().isEmpty()) {
      entry.put("name", message.name());
    }
    if (!message.callId().isEmpty()) {
      entry.put("tool_call_id", message.callId());
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
    if (added.isEmpty() || rendering().ending() != Ending.NEXT_MESSAGE) {
      return Optional.empty();
    }
    if (added.stream().allMatch(message -> message.role() == ChatMessage.Role.TOOL)) {
      return beginsAsOthers() ? Optional.of(results(turn, added)) : Optional.empty();
    }
    boolean plain =
        turn.answer().reasoning().isEmpty()
            && !turn.answer().content().contains(ThoughtMarks.THINK.closes())
            && turn.answer().calls().isEmpty()
            && added.stream().allMatch(message -> message.role() == ChatMessage.Role.USER);
    return plain ? users(turn, added) : Optional.empty();
  }

  /** Whether the template begins the answer to this request as that to any other. */
  private boolean beginsAsOthers() {
    return arguments().isEmpty()
        || beginning()
            .equals(
                new TemplateConversation(tokenizer, template, format, turnEnd, Optional.empty())
                    .beginning());
  }

  private String beginning() {
    return rendered(
        List.of(ChatMessage.of(ChatMessage.Role.USER, "q")),
        List.of(),
        new ForeignTexts(tokenizer));
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
    List<Map<String, Object>> entries = entries(conversation, foreign);
    entries.get(1).put(CONTENT, MARK);
    String rendered = rendered(entries, List.of());
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

  /** Whether an answer begins within thinking: the template opens it, or the message so far. */
  private boolean thinksFirst() {
    List<ChatMessage> messages =
        asked
            .filter(_ -> rendering().ending() == Ending.WITHIN_LAST)
            .map(TurnRequest::messages)
            .orElse(List.of());
    return OpenThought.endsInside(
        messages.isEmpty()
            ? beginning()
            : continued(messages, List.of(), new ForeignTexts(tokenizer)));
  }
}
