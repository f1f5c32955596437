package io.troupe.gateway.dialog;

import java.util.List;

/**
 * A message of a conversation, the same in every dialect.
 *
 * @param content empty where there is none
 * @param reasoning thoughts of an assistant before its answer, none or one: agents may leave them
 *     out, and to a template an empty thought is not none
 * @param calls of an assistant
 * @param callId the call that a tool's message answers; otherwise empty
 * @param failed whether a tool's message reports an error
 * @param name name of the message's author, or of the tool; empty where there is none
 */
public record ChatMessage(
    Role role,
    String content,
    List<String> reasoning,
    List<ChatCall> calls,
    String callId,
    boolean failed,
    String name) {
  /** The author of a message. */
  public enum Role {
    SYSTEM,
    USER,
    ASSISTANT,
    TOOL
  }

  public ChatMessage {
    reasoning = List.copyOf(reasoning);
    calls = List.copyOf(calls);
  }

  /** A message of a system or a user. */
  public static ChatMessage of(Role role, String content) {
    return new ChatMessage(role, content, List.of(), List.of(), "", false, "");
  }

  /**
   * A message of the policy, or of one that an agent invented.
   *
   * @param reasoning empty where there is none
   */
  public static ChatMessage assistant(String content, String reasoning, List<ChatCall> calls) {
    return assistant(content, reasoning.isEmpty() ? List.of() : List.of(reasoning), calls);
  }

  /**
   * A message of the policy, or of one that an agent invented.
   *
   * @param reasoning none or one
   */
  public static ChatMessage assistant(
      String content, List<String> reasoning, List<ChatCall> calls) {
    return new ChatMessage(Role.ASSISTANT, content, reasoning, calls, "", false, "");
  }

  /** The result of a call. */
  public static ChatMessage tool(String callId, String content, boolean failed) {
    return new ChatMessage(Role.TOOL, content, List.of(), List.of(), callId, failed, "");
  }

  /** Returns the message under a name. */
  public ChatMessage named(String author) {
    return new ChatMessage(role, content, reasoning, calls, callId, failed, author);
  }

  /** Returns the message with another content. */
  public ChatMessage withContent(String other) {
    return new ChatMessage(role, other, reasoning, calls, callId, failed, name);
  }
}
