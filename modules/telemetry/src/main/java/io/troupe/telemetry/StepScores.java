package io.troupe.telemetry;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The scores of a step's evaluations: the shares of answers that pass, and mean rewards.
 *
 * @param byName evaluations that had a result; {@link #HELD_OUT} is the run's own
 */
public record StepScores(Map<String, Double> byName) {
  /** The name of the evaluation that the section {@code evaluation} describes. */
  public static final String HELD_OUT = "held_out";

  public StepScores {
    byName = Collections.unmodifiableMap(new LinkedHashMap<>(byName));
  }

  /** The result of the run's own evaluation alone. */
  public static StepScores of(double accuracy) {
    return new StepScores(Map.of(HELD_OUT, accuracy));
  }

  /** The name of the mean reward of an evaluation, which is given where rewards are graded. */
  public static String ofReward(String evaluation) {
    return evaluation.equals(HELD_OUT) ? "reward" : evaluation + "_reward";
  }

  /** The result of one evaluation; empty if it had none. */
  public OptionalDouble of(String name) {
    Double value = byName.get(name);
    return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
  }

  /** The results of all but the run's own evaluation. */
  Map<String, Double> others() {
    Map<String, Double> others = new LinkedHashMap<>(byName);
    others.remove(HELD_OUT);
    return others;
  }
}
