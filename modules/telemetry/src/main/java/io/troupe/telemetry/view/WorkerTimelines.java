package io.troupe.telemetry.view;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The workers of a run: those that are there, and the last that left. What all of them ask for
 * together is kept, so that no event looks at each.
 */
final class WorkerTimelines {
  /** Former workers that are still shown; older ones are forgotten. */
  static final int MAX_FORMER = 100;

  private final Map<String, WorkerTimeline> timelines;
  private final Deque<WorkerTimeline> former = new ArrayDeque<>();
  private long demand;
  private long present;
  private long absentSince;

  /** Timelines of no worker yet, in a map that is empty and sorted. */
  WorkerTimelines(Map<String, WorkerTimeline> lives) {
    this.timelines = lives;
  }

  /** Returns the timelines in the order of the workers' names. */
  Collection<WorkerTimeline> all() {
    return timelines.values();
  }

  /** A worker that makes itself known by what it does. */
  WorkerTimeline of(String name, long at) {
    return timelines.computeIfAbsent(name, _ -> new WorkerTimeline(name, at, this));
  }

  /** A worker that others speak of; it may be forgotten. */
  Optional<WorkerTimeline> known(String name) {
    return Optional.ofNullable(timelines.get(name));
  }

  /** Groups that present workers have asked for and not got. */
  long demand() {
    return demand;
  }

  /** The run begins, or begins again, to look for workers. */
  void awaited(long at) {
    absentSince = at;
  }

  /** Returns the time since which there has been no worker; absent while there is one. */
  OptionalLong absentSince() {
    return present == 0 ? OptionalLong.of(absentSince) : OptionalLong.empty();
  }

  /** Removes all workers. */
  void removeGone(long at) {
    List.copyOf(timelines.values()).forEach(worker -> worker.gone(at));
  }

  /** A worker's demand is another one, or it has come or gone. */
  void settled(WorkerTimeline worker, long more, boolean wasPresent, long at) {
    demand += more;
    if (wasPresent && !worker.present) {
      present--;
      absentSince = at;
      former.addLast(worker);
      while (former.size() > MAX_FORMER) {
        WorkerTimeline oldest = former.removeFirst();
        timelines.remove(oldest.name, oldest);
      }
    } else if (!wasPresent && worker.present) {
      present++;
      former.remove(worker);
    }
  }
}
