package io.troupe.gateway.dialog;

import java.util.List;

/**
 * An answer of the policy as an agent is sent it.
 *
 * @param answer the policy's answer
 * @param stop the agent's own text that ended the answer; empty where none did
 * @param sampledTokens ids that the policy sampled
 */
public record TurnReply(
    TurnStart start, ParsedAnswer answer, Finish finish, String stop, int sampledTokens) {
  /** The reason why the answer ends. */
  public enum Finish {
    STOP,
    LENGTH,
    TOOL_CALLS
  }

  /**
   * A sampled text, read.
   *
   * @param reasoning before the answer; empty where the policy does not think
   * @param content without reasoning and calls
   * @param calls that can be read, in the order in which they were sampled
   */
  public record ParsedAnswer(String reasoning, String content, List<ChatCall> calls) {
    public ParsedAnswer {
      calls = List.copyOf(calls);
    }

    /** The message that an agent sends back. */
    public ChatMessage message() {
      return ChatMessage.assistant(content, reasoning, calls);
    }
  }
}
