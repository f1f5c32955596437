package io.troupe.sim.engine;

import io.troupe.core.audit.Audit;
import io.troupe.core.run.Input;
import io.troupe.core.run.RunState;
import java.util.List;

/**
 * The history of a run before it continues in virtual time.
 *
 * @param audit of all its events
 * @param records that these were in
 * @param state behind the last of them
 * @param lastFence the greatest fencing number granted
 * @param first inputs of the process that continues the history, before its first decision
 */
public record RunHistory(
    Audit audit, long records, RunState state, long lastFence, List<Input> first) {
  public RunHistory {
    first = List.copyOf(first);
  }
}
