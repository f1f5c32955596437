package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

/**
 * The name of a rollout worker, unique in the run, also across restarts of the worker: that of its
 * place, and a mark of this start.
 */
public record WorkerId(String value) implements Comparable<WorkerId> {
  private static final int MARK = 8;

  public WorkerId {
    require(!value.isBlank(), "a worker id must not be blank");
  }

  /**
   * A worker at a place.
   *
   * @param mark eight characters that no other worker of this place has
   */
  public static WorkerId at(String place, String mark) {
    require(mark.length() == MARK, "a mark has %d characters, not '%s'", MARK, mark);
    return new WorkerId(place + "-" + mark);
  }

  /** Returns the place of the worker: a worker that replaces it has the same place. */
  public String place() {
    int dash = value.length() - MARK - 1;
    return dash > 0 && value.charAt(dash) == '-' ? value.substring(0, dash) : value;
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
