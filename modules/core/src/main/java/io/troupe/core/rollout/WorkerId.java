package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

/** The name of a rollout worker, unique in the run, also across restarts of the worker. */
public record WorkerId(String value) implements Comparable<WorkerId> {
  public WorkerId {
    require(!value.isBlank(), "a worker id must not be blank");
  }

  @Override
  public int compareTo(WorkerId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
