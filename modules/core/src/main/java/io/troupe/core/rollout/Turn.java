package io.troupe.core.rollout;

import io.troupe.core.completion.Completion;
import java.util.List;

/**
 * One answer of the policy within an episode.
 *
 * @param ordinal place of the turn in the episode, from 0, across all of the episode's sequences
 * @param agent name of the agent that asked; {@link #MAIN} unless a program has agents of its own
 * @param observed ids of the request that its sequence does not hold yet; none in the first turn of
 *     a sequence, whose request is the sequence's prompt; handed over, not copied
 * @param completion sample of the policy
 * @param trained whether its tokens may have loss weight; the tokens of an answer from which no
 *     request continued have none
 * @param tools the calls of the answer that were carried out
 * @param startMillis time of the request, on the clock of the worker's process
 * @param endMillis time of the last token
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record Turn(
    int ordinal,
    String agent,
    int[] observed,
    Completion completion,
    boolean trained,
    List<ToolRun> tools,
    long startMillis,
    long endMillis) {
  /** The agent of an episode that has one. */
  public static final String MAIN = "main";

  static final int[] NOTHING = {};

  public Turn {
    tools = List.copyOf(tools);
  }

  /** The only turn of an episode without tools, of which no times are kept. */
  static Turn only(Completion completion) {
    return new Turn(0, MAIN, NOTHING, completion, true, List.of(), 0, 0);
  }

  Turn abandoned() {
    return new Turn(ordinal, agent, observed, completion, false, tools, startMillis, endMillis);
  }

  Turn with(List<ToolRun> runs) {
    return new Turn(ordinal, agent, observed, completion, trained, runs, startMillis, endMillis);
  }
}
