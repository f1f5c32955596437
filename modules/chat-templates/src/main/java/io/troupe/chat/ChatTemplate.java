package io.troupe.chat;

import java.util.List;
import java.util.Map;

/**
 * Turns a conversation into the text that a chat model was trained to continue. Implementations are
 * immutable and safe to share between threads. A base model has no chat template; its prompts are
 * texts.
 */
public interface ChatTemplate {
  /**
   * One turn of a conversation.
   *
   * @param role such as {@code system}, {@code user} or {@code assistant}
   */
  record Message(String role, String content) {
    public static Message system(String content) {
      return new Message("system", content);
    }

    public static Message user(String content) {
      return new Message("user", content);
    }

    public static Message assistant(String content) {
      return new Message("assistant", content);
    }
  }

  /**
   * Returns the text of a conversation. The text spells the model's special tokens, which {@link
   * Tokenizer#encodeWithSpecial} turns into their ids.
   *
   * @param addGenerationPrompt whether the text ends with the beginning of the assistant's answer
   * @param arguments further variables of the template, such as {@code enable_thinking}: booleans,
   *     numbers, strings, lists and maps of them
   * @throws IllegalArgumentException if the template refuses the conversation, with its message
   */
  String render(List<Message> messages, boolean addGenerationPrompt, Map<String, Object> arguments);

  /**
   * Whether the template has a variable of this name. An argument of another name changes nothing.
   */
  default boolean mentions(String variable) {
    return true;
  }

  /** Whether a choice of {@link Thinking} was made for the template; a later default yields. */
  default boolean decidesThinking() {
    return false;
  }
}
