package io.troupe.gateway.dialog;

import io.troupe.chat.TurnEnd;
import java.util.List;
import java.util.Optional;

/** The form in which a policy reads conversations and calls tools. */
public interface Conversation {
  /** Returns why a request cannot be shown as it wants; empty if it can. */
  Optional<TurnRendering.Objection> objection(TurnRequest request);

  /**
   * Returns the conversation of one request, shown as it wants.
   *
   * @param request to which there is no {@link #objection}
   */
  Conversation answering(TurnRequest request);

  /** Returns what ends the policy's turns, beside the checkpoint's own ends. */
  TurnEnd turnEnd();

  /**
   * Returns the ids of a conversation, up to the beginning of the answer.
   *
   * @throws IllegalArgumentException if the policy cannot be shown it; the message says why
   */
  int[] whole(List<ChatMessage> messages, List<ToolDeclaration> tools);

  /**
   * Returns the ids that follow an answer when messages are added to its conversation, up to the
   * beginning of the next answer; empty if only a rendering of the whole shows the policy what its
   * template means.
   *
   * @throws IllegalArgumentException if the policy cannot be shown the messages
   */
  Optional<int[]> following(SessionBook.SampledTurn turn, List<ChatMessage> added);

  /** Returns texts that end an answer of a policy that may call tools. */
  List<String> stops();

  /**
   * Reads an answer.
   *
   * @param tools offered to the policy; without them nothing is a call
   */
  TurnReply.ParsedAnswer parse(String answer, List<ToolDeclaration> tools);

  /**
   * Reads the beginning of an answer.
   *
   * @return reasoning and text, which those of every answer that begins so begin with; no calls
   */
  TurnReply.ParsedAnswer soFar(String beginning, List<ToolDeclaration> tools);
}
