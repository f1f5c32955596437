package io.troupe.chat;

import static io.troupe.core.Require.require;

import io.troupe.core.prompt.OpenThought;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Whether a policy thinks before its answers, as its chat template is told. Everything that renders
 * conversations of a policy takes its template from {@link #in}.
 */
public enum Thinking {
  /** Without thinking, where the template has the choice. */
  AUTO(false),
  /** Without thinking; a template without the choice is refused. */
  FALSE(false),
  /** With thinking; a template that never opens a thought is refused. */
  TRUE(true);

  private static final List<Map<String, Object>> HISTORY =
      List.of(
          Map.of("role", "user", "content", "q"),
          Map.of("role", "assistant", "content", "a", "reasoning_content", "t"),
          Map.of("role", "user", "content", "r"));

  private static final String KEY = "policy.thinking";

  private final boolean on;

  Thinking(boolean on) {
    this.on = on;
  }

  /** Returns the choice of a request, which says it one way or the other. */
  public static Thinking of(boolean on) {
    return on ? TRUE : FALSE;
  }

  /** Returns the variables by which templates are told; there are two names for the same choice. */
  public Map<String, Object> arguments() {
    return Map.of("enable_thinking", on, "thinking", on);
  }

  /**
   * Returns a policy's template with this choice: each rendering passes {@link #arguments}, unless
   * its own arguments say otherwise.
   *
   * @param template of the policy; absent if it has none
   * @throws IllegalArgumentException if the choice was made and the template cannot follow it; the
   *     message begins with the key
   */
  public Optional<ChatTemplate> in(Optional<? extends ChatTemplate> template) {
    if (template.isEmpty()) {
      require(
          this == AUTO,
          "%s (%s): the policy has no chat template; leave it out",
          KEY,
          name().toLowerCase(Locale.ROOT));
      return Optional.empty();
    }
    ChatTemplate own = template.get();
    if (this == AUTO && own.decidesThinking()) {
      return Optional.of(own);
    }
    objection(own)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException(
                  "%s (%s): %s".formatted(KEY, name().toLowerCase(Locale.ROOT), why));
            });
    return Optional.of(new Decided(own, arguments()));
  }

  /** A template with arguments, where a rendering's own do not say otherwise. */
  private record Decided(ChatTemplate template, Map<String, Object> arguments)
      implements WrappingTemplate {
    @Override
    public String render(
        List<Message> messages, boolean addGenerationPrompt, Map<String, Object> more) {
      Map<String, Object> all = new HashMap<>(arguments);
      all.putAll(more);
      return template.render(messages, addGenerationPrompt, all);
    }

    @Override
    public boolean decidesThinking() {
      return true;
    }
  }

  /**
   * Returns why a template cannot follow a choice that was made; empty if it can, or if none was
   * made. A template whose text is the same either way has no choice: it always opens a thought,
   * which is {@link #TRUE}, or never.
   */
  public Optional<String> objection(ChatTemplate template) {
    if (this == AUTO || depends(template)) {
      return Optional.empty();
    }
    boolean opens = OpenThought.endsInside(rendered(template, TRUE));
    if (opens && this == TRUE) {
      return Optional.empty();
    }
    return Optional.of(
        opens
            ? "the chat template opens a thought in every answer and has no choice; set it to true,"
                + " or leave it out"
            : "the text of the chat template does not depend on it (enable_thinking, thinking);"
                + " leave it out, or take a checkpoint whose template has the choice");
  }

  private static boolean depends(ChatTemplate template) {
    return !rendered(template, TRUE).equals(rendered(template, FALSE));
  }

  private static String rendered(ChatTemplate template, Thinking thinking) {
    Map<String, Object> arguments = new HashMap<>(thinking.arguments());
    arguments.put("messages", HISTORY);
    return template.render(List.of(), true, arguments);
  }
}
