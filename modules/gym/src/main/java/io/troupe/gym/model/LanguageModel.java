package io.troupe.gym.model;

import io.troupe.gym.loop.Spend;
import java.io.IOException;

/** Answers questions; a call blocks, and may cost money. */
public interface LanguageModel {
  /**
   * Asks.
   *
   * @throws IOException if there is no answer; says where and why
   */
  ModelReply ask(ModelRequest request) throws IOException;

  /** Returns the most that a question of a number of tokens can cost. */
  Spend most(long inputTokens);

  /** Returns what makes its answers differ from another model's: provider, name, sampling. */
  String identity();
}
