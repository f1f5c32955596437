package io.troupe.core.run;

import io.troupe.core.rollout.WorkerId;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;

/** The choice of a worker for a lease by a scan of all workers: the oracle of the index. */
final class ScannedWorkers {
  private ScannedWorkers() {}

  /** The worker that a lease granted in this state and at this time goes to. */
  static Optional<WorkerId> choice(RunState state, long now) {
    return dueForProbe(state, now).or(() -> mostDemand(state));
  }

  private static Optional<WorkerId> mostDemand(RunState state) {
    return state.workers().entrySet().stream()
        .filter(entry -> entry.getValue().demand() > 0)
        .filter(entry -> !state.outages().place(entry.getKey().place()).open())
        .max(
            Comparator.comparingLong(
                    (Map.Entry<WorkerId, Worker> entry) -> entry.getValue().demand())
                .thenComparing(Map.Entry.comparingByKey(Comparator.reverseOrder())))
        .map(Map.Entry::getKey);
  }

  private static Optional<WorkerId> dueForProbe(RunState state, long now) {
    return state.workers().entrySet().stream()
        .filter(entry -> entry.getValue().demand() > 0 && entry.getValue().leases() == 0)
        .map(Map.Entry::getKey)
        .filter(worker -> state.outages().place(worker.place()).probes(now))
        .findFirst();
  }
}
