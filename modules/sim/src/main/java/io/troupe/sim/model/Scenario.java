package io.troupe.sim.model;

import static io.troupe.core.Require.require;

import io.troupe.core.run.RunLimits;
import java.util.List;

/**
 * A run to simulate.
 *
 * @param limits limits by which the coordinator decides
 * @param maxTokens most tokens of a completion
 * @param faults faults by script, on top of the model's rates
 * @param seconds of virtual time after which it is cut off; it may end before
 */
public record Scenario(
    RunLimits limits,
    ClusterShape shape,
    LatencyModel model,
    int maxTokens,
    List<Fault> faults,
    double seconds) {
  public Scenario {
    faults = List.copyOf(faults);
    require(maxTokens >= 1, "max_tokens is 1 or more, not %s", maxTokens);
    require(seconds > 0, "a simulation lasts longer than %s s", seconds);
    require(
        shape.rows() >= limits.groups().size().part(),
        "a worker decodes %s completions at a time, and a group has %s",
        shape.rows(),
        limits.groups().size().part());
  }

  /** This run over another model. */
  public Scenario withModel(LatencyModel other) {
    return new Scenario(limits, shape, other, maxTokens, faults, seconds);
  }
}
