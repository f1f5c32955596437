package io.troupe.environments.format;

import java.util.List;

/**
 * The spelling of tool calls and of their results in a family of models. A call is read from the
 * sampled text, which is never encoded again.
 */
public interface ToolFormat {
  /** Returns texts that end a turn, besides the policy's own ends. */
  List<String> stops();

  /** Reads an answer; where a stop text ended it, the answer ends with that text. */
  ParsedToolCalls parse(String answer);

  /**
   * Returns how much of an answer's beginning is text, however the answer continues: what may begin
   * a call, and all behind it, is not.
   */
  int textEnd(String beginning);

  /**
   * Returns what follows an answer in the policy's context: the end of its message where the answer
   * lacks it, the results in the order of the calls, and the beginning of the next answer. Special
   * tokens come from this text only, never from a result.
   *
   * @param ended whether the policy sampled the end of its message itself
   */
  List<Piece> observation(List<String> results, boolean ended);

  /**
   * A part of an observation.
   *
   * @param special whether the text spells special tokens; the text of a tool never does
   */
  record Piece(String text, boolean special) {}
}
