package io.troupe.gym.item;

import java.util.List;

/** Items of two splits, and what a right answer is. No item is in both splits, by its id. */
public interface GymTask extends AutoCloseable {
  /** Returns the task's name for reports, one word. */
  String name();

  /** Returns the items that steer the agent. */
  List<GymItem> validation();

  /** Returns the items that are answered once, at the end. */
  List<GymItem> test();

  /**
   * Returns an item of another writer, with the id that the task's own item of the same question
   * has.
   */
  GymItem item(String skill, String subskill, String prompt, String answer);

  /**
   * Returns problems of a skill with their answers, as an example for others; none is in a split.
   *
   * @param most of them
   */
  List<GymItem> examples(String skill, String subskill, int most);

  /** Returns the form in which a language model writes rows of a skill. */
  default RowForm form(String skill) {
    return RowForm.ANSWER;
  }

  /** Whether a response answers an item. */
  boolean passes(GymItem item, String response);

  /** Releases what judges; a task without such things has nothing to release. */
  @Override
  default void close() {}
}
