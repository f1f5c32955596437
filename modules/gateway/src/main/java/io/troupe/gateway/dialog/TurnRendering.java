package io.troupe.gateway.dialog;

import io.troupe.chat.Thinking;
import java.util.Map;
import java.util.Optional;

/**
 * How a request wants its conversation shown to the policy.
 *
 * @param thinking the request's own choice; empty for that of the server
 * @param effort the wished effort of reasoning
 * @param arguments further variables of the chat template
 * @param ending where the prompt ends
 * @param textStart whether the prompt begins with the tokenizer's own tokens, also where the
 *     template writes none
 */
public record TurnRendering(
    Optional<ThinkingWish> thinking,
    Optional<EffortWish> effort,
    Map<String, Object> arguments,
    Ending ending,
    boolean textStart) {
  /** Where a prompt ends. */
  public enum Ending {
    /** At the beginning of the policy's next message. */
    NEXT_MESSAGE,
    /** Within the last message, which the policy continues. */
    WITHIN_LAST,
    /** Behind the last message. */
    BEHIND_LAST
  }

  /** A choice and the field of the request that makes it. */
  public record ThinkingWish(String field, Thinking thinking) {}

  /**
   * An effort and the field of the request that names it.
   *
   * @param thinks whether a template that knows no efforts is told to think, or not to
   */
  public record EffortWish(String field, String effort, boolean thinks) {
    /** The effort of an answer without reasoning. */
    public static final String NONE = "none";
  }

  /** Why a request cannot be shown as it wants. */
  public record Objection(String field, String why) {}

  private static final String WITHOUT_TEMPLATE = "this policy has no chat template";

  /** As the server shows all conversations. */
  public static final TurnRendering PLAIN =
      new TurnRendering(Optional.empty(), Optional.empty(), Map.of(), Ending.NEXT_MESSAGE, false);

  public TurnRendering {
    arguments = Map.copyOf(arguments);
  }

  /** Returns what a policy without a chat template cannot do; it never thinks. */
  Optional<Objection> withoutTemplate() {
    Optional<Objection> thought =
        thinking
            .filter(wish -> wish.thinking() == Thinking.TRUE)
            .map(wish -> new Objection(wish.field(), WITHOUT_TEMPLATE));
    Optional<Objection> argued =
        arguments.keySet().stream()
            .filter(name -> !Thinking.AUTO.arguments().containsKey(name))
            .findFirst()
            .map(name -> new Objection("chat_template_kwargs." + name, WITHOUT_TEMPLATE));
    return thought
        .or(
            () ->
                effort
                    .filter(wish -> !wish.effort().equals(EffortWish.NONE))
                    .map(wish -> new Objection(wish.field(), WITHOUT_TEMPLATE)))
        .or(() -> argued);
  }
}
