package io.troupe.cluster;

import io.troupe.base.process.ChildSpec;
import io.troupe.core.outage.RestartBackoff;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The child processes of a run on a node, and the decision what follows when one ends. Pure.
 *
 * @param alive running processes, by name
 * @param replacements by name, the process that replaces a running one when that has ended
 * @param released names of running processes that are no longer wanted
 * @param restarts by name, the back-off of processes that ended early
 */
record ChildTable(
    Map<String, ChildSpec> alive,
    Map<String, ChildSpec> replacements,
    Set<String> released,
    Map<String, RestartBackoff> restarts) {
  static final ChildTable EMPTY = new ChildTable(Map.of(), Map.of(), Set.of(), Map.of());

  ChildTable {
    alive = Map.copyOf(alive);
    replacements = Map.copyOf(replacements);
    released = Set.copyOf(released);
    restarts = Map.copyOf(restarts);
  }

  /**
   * The processes to start for a new plan.
   *
   * @param starts wanted processes that do not run yet
   * @param outdated names of running processes whose wanted specification differs, which is in
   *     {@link #replacements}
   */
  record StartPlan(ChildTable table, List<ChildSpec> starts, Set<String> outdated) {
    StartPlan {
      starts = List.copyOf(starts);
      outdated = Set.copyOf(outdated);
    }
  }

  /** The state after the end of a process, and what follows. */
  record ChildEnd(ChildTable table, Outcome outcome) {}

  /** The consequence of the end of a process. */
  sealed interface Outcome {
    /** The process is not restarted. */
    record Finished() implements Outcome {}

    /** The process was the last of those no longer wanted. */
    record AllReleased() implements Outcome {}

    /** Another process replaces it now. */
    record Replaced(ChildSpec by) implements Outcome {}

    /** The process is restarted. */
    record Restart(long afterMillis) implements Outcome {}

    /** The process has ended so often that it is restarted only after a long pause. */
    record BackOff(int failures, long afterMillis) implements Outcome {}
  }

  StartPlan plan(List<ChildSpec> wanted) {
    Map<String, ChildSpec> later = new LinkedHashMap<>(replacements);
    List<ChildSpec> starts = new ArrayList<>();
    Set<String> outdated = new LinkedHashSet<>();
    for (ChildSpec child : wanted) {
      later.remove(child.name());
      ChildSpec running = alive.get(child.name());
      if (running == null) {
        starts.add(child);
      } else if (!running.equals(child)) {
        later.put(child.name(), child);
        outdated.add(child.name());
      }
    }
    return new StartPlan(new ChildTable(alive, later, released, restarts), starts, outdated);
  }

  ChildTable started(ChildSpec child) {
    Map<String, ChildSpec> all = new LinkedHashMap<>(alive);
    all.put(child.name(), child);
    return new ChildTable(all, replacements, released, restarts);
  }

  /** Marks running processes outside {@code kept} as no longer wanted. */
  ChildTable release(Set<String> kept) {
    Set<String> unwanted = new LinkedHashSet<>(alive.keySet());
    unwanted.removeAll(kept);
    return new ChildTable(alive, retain(replacements, kept), unwanted, retain(restarts, kept));
  }

  /** Whether no process runs because every wanted one has ended too often. */
  boolean allBackingOff() {
    return alive.isEmpty()
        && !restarts.isEmpty()
        && restarts.values().stream().allMatch(RestartBackoff::persistent);
  }

  /** Marks all processes as no longer wanted; running ones are left to end. */
  ChildTable withoutWanted() {
    return new ChildTable(alive, Map.of(), Set.of(), Map.of());
  }

  private static <T> Map<String, T> retain(Map<String, T> all, Set<String> names) {
    Map<String, T> retained = new LinkedHashMap<>(all);
    retained.keySet().retainAll(names);
    return retained;
  }

  /**
   * A process has ended.
   *
   * @param exit exit code; 0 if the process ended by order
   */
  ChildEnd ended(String child, int exit, long nowMillis) {
    Map<String, ChildSpec> others = new LinkedHashMap<>(alive);
    others.remove(child);
    if (released.contains(child)) {
      Set<String> left = new LinkedHashSet<>(released);
      left.remove(child);
      return new ChildEnd(
          new ChildTable(others, replacements, left, restarts),
          left.isEmpty() ? new Outcome.AllReleased() : new Outcome.Finished());
    }
    ChildSpec replacement = replacements.get(child);
    if (replacement != null) {
      Map<String, ChildSpec> later = new LinkedHashMap<>(replacements);
      later.remove(child);
      return new ChildEnd(
          new ChildTable(others, later, released, restarts), new Outcome.Replaced(replacement));
    }
    if (exit == 0) {
      return new ChildEnd(
          new ChildTable(others, replacements, released, restarts), new Outcome.Finished());
    }
    RestartBackoff backoff =
        restarts
            .getOrDefault(child, RestartBackoff.none(RestartBackoff.Settings.DEFAULT))
            .ended(nowMillis);
    Map<String, RestartBackoff> counted = new LinkedHashMap<>(restarts);
    counted.put(child, backoff);
    return new ChildEnd(
        new ChildTable(others, replacements, released, counted),
        backoff.persistent()
            ? new Outcome.BackOff(backoff.endings().size(), backoff.pauseMillis())
            : new Outcome.Restart(backoff.pauseMillis()));
  }
}
