package io.troupe.gym.item;

import static io.troupe.core.Require.require;

/**
 * A question with its answer and the skill that it needs.
 *
 * @param id of the question, the same for questions that are one (37+45 and 45+37)
 * @param skill such as {@code sub}
 * @param subskill such as {@code borrow}; empty where the skill has none
 * @param prompt as the student reads it
 * @param answer that a verifier compares with
 */
public record GymItem(String id, String skill, String subskill, String prompt, String answer) {
  public GymItem {
    require(!id.isBlank(), "an item has an id");
    require(!skill.isBlank(), "the item %s has a skill", id);
  }

  /** Returns skill and subskill as one path, such as {@code sub/borrow}. */
  public String leaf() {
    return subskill.isEmpty() ? skill : skill + "/" + subskill;
  }
}
