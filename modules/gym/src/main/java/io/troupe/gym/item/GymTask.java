package io.troupe.gym.item;

import java.util.List;

/** Items of two splits, and what a right answer is. No item is in both splits, by its id. */
public interface GymTask {
  /** Returns one word for reports. */
  String name();

  /** Returns the items that steer the agent. */
  List<GymItem> validation();

  /** Returns the items that are answered once, at the end. */
  List<GymItem> test();

  /** Whether a response answers an item. */
  boolean passes(GymItem item, String response);
}
