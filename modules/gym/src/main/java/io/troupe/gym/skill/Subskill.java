package io.troupe.gym.skill;

import static io.troupe.core.Require.require;

/**
 * A subskill in a tree.
 *
 * @param name unique in its tree
 * @param allocation rows that the next proposal makes for it, 0 or more
 * @param generated rows that were kept for it so far
 * @param pruned whether it gets no more rows
 */
public record Subskill(String name, int allocation, int generated, boolean pruned) {
  public Subskill {
    require(!name.isBlank(), "a subskill has a name");
    require(allocation >= 0, "the allocation of %s is 0 or greater, not %d", name, allocation);
    require(generated >= 0, "%s has 0 or more rows, not %d", name, generated);
    require(!pruned || allocation == 0, "the pruned subskill %s has no allocation", name);
  }

  Subskill allocated(int rows) {
    return pruned ? this : new Subskill(name, Math.max(0, rows), generated, false);
  }

  Subskill generated(int rows) {
    return new Subskill(name, allocation, generated + rows, pruned);
  }

  Subskill cut() {
    return new Subskill(name, 0, generated, true);
  }
}
