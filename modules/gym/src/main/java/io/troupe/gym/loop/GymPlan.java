package io.troupe.gym.loop;

import static io.troupe.core.Require.require;

import java.util.List;

/**
 * The plan of a gym.
 *
 * @param trials in order
 * @param iterations of each
 * @param gate that the base student of each must pass
 */
public record GymPlan(List<Planned> trials, int iterations, Gate gate) {
  /**
   * One way to make data, with one seed.
   *
   * @param arm the way
   */
  public record Planned(String arm, long seed) {}

  /**
   * The skills that the base student must and must not have; without them, a comparison of arms
   * measures nothing: a student that has not learnt a sibling has nothing to transfer.
   *
   * @param weak paths of the leaves that the base must not know; none turns the gate off
   * @param weakMost highest accuracy of a weak leaf
   * @param othersLeast lowest accuracy of any other leaf
   */
  public record Gate(List<String> weak, double weakMost, double othersLeast) {
    public static final Gate NONE = new Gate(List.of(), 1, 0);

    public Gate {
      weak = List.copyOf(weak);
    }
  }

  public GymPlan {
    trials = List.copyOf(trials);
    require(!trials.isEmpty(), "a gym has at least one trial");
    require(iterations >= 1, "a trial has at least one iteration, not %d", iterations);
  }
}
