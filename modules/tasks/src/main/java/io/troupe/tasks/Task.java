package io.troupe.tasks;

import io.troupe.core.prompt.Prompt;
import java.util.List;

/**
 * A source of prompts, loaded whole and immutable. The prompts of both lists have unique ids, and
 * stand in the order of their source: shuffling belongs to the run, which knows the epoch's seed.
 */
public interface Task {
  /** What the task is, in one word: in banners, metrics and configuration. */
  String name();

  /** Prompts to learn from, at least one. */
  List<Prompt> train();

  /** Prompts never trained on, for evaluation; may be empty. */
  List<Prompt> heldOut();

  /**
   * The characters a character tokenizer needs for every prompt and every completion worth a
   * reward, each once, in ascending code point order.
   */
  String alphabet();
}
