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
 * Which processes of a run live on a node, and what becomes of each that ends. Pure.
 *
 * @param alive by name
 * @param replacements by name, what takes the place of one that lives once that has ended
 * @param released names of those that live and are no longer wanted
 * @param restarts by name, how often a process ended early
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
   * Processes are wanted.
   *
   * @param starts those that do not live yet
   * @param outdated names of those that live as another process than is wanted, which is {@link
   *     #replacements}
   */
  record StartPlan(ChildTable table, List<ChildSpec> starts, Set<String> outdated) {
    StartPlan {
      starts = List.copyOf(starts);
      outdated = Set.copyOf(outdated);
    }
  }

  /** A process has ended. */
  record ChildEnd(ChildTable table, Outcome outcome) {}

  /** What becomes of a process that ended. */
  sealed interface Outcome {
    /** Nobody needs another one. */
    record Finished() implements Outcome {}

    /** It was the last one that was no longer wanted. */
    record AllReleased() implements Outcome {}

    /** Another process takes its place now. */
    record Replaced(ChildSpec by) implements Outcome {}

    /** It is started again. */
    record Restart(long afterMillis) implements Outcome {}

    /** It ended so often that it is started again only after a long pause. */
    record BackOff(int failures, long afterMillis) implements Outcome {}
  }

  StartPlan plan(List<ChildSpec> wanted) {
    Map<String, ChildSpec> later = new LinkedHashMap<>(replacements);
    List<ChildSpec> starts = new ArrayList<>();
    Set<String> outdated = new LinkedHashSet<>();
    for (ChildSpec child : wanted) {
      later.remove(child.name());
      ChildSpec lives = alive.get(child.name());
      if (lives == null) {
        starts.add(child);
      } else if (!lives.equals(child)) {
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

  /** Those that live and are not kept are no longer wanted. */
  ChildTable release(Set<String> kept) {
    Set<String> gone = new LinkedHashSet<>(alive.keySet());
    gone.removeAll(kept);
    return new ChildTable(alive, retain(replacements, kept), gone, retain(restarts, kept));
  }

  /** Whether none runs, because each that is wanted ended too often. */
  boolean allBackingOff() {
    return alive.isEmpty()
        && !restarts.isEmpty()
        && restarts.values().stream().allMatch(RestartBackoff::persistent);
  }

  /** None is wanted any more; those that live end one by one. */
  ChildTable withoutWanted() {
    return new ChildTable(alive, Map.of(), Set.of(), Map.of());
  }

  private static <T> Map<String, T> retain(Map<String, T> all, Set<String> names) {
    Map<String, T> those = new LinkedHashMap<>(all);
    those.keySet().retainAll(names);
    return those;
  }

  /**
   * A process has ended.
   *
   * @param exit its code; 0 if it was told to end
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
    ChildSpec by = replacements.get(child);
    if (by != null) {
      Map<String, ChildSpec> later = new LinkedHashMap<>(replacements);
      later.remove(child);
      return new ChildEnd(
          new ChildTable(others, later, released, restarts), new Outcome.Replaced(by));
    }
    if (exit == 0) {
      return new ChildEnd(
          new ChildTable(others, replacements, released, restarts), new Outcome.Finished());
    }
    RestartBackoff known =
        restarts
            .getOrDefault(child, RestartBackoff.none(RestartBackoff.Settings.DEFAULT))
            .ended(nowMillis);
    Map<String, RestartBackoff> counted = new LinkedHashMap<>(restarts);
    counted.put(child, known);
    return new ChildEnd(
        new ChildTable(others, replacements, released, counted),
        known.persistent()
            ? new Outcome.BackOff(known.endings().size(), known.pauseMillis())
            : new Outcome.Restart(known.pauseMillis()));
  }
}
