package io.troupe.cluster;

import io.troupe.core.restart.Restarts;
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
 * @param next by name, what takes the place of one that lives once that has ended
 * @param released names of those that live and are no longer wanted
 * @param endings by name, how often a process ended early
 */
record ChildBook(
    Map<String, ChildSpec> alive,
    Map<String, ChildSpec> next,
    Set<String> released,
    Map<String, Restarts> endings) {
  static final ChildBook EMPTY = new ChildBook(Map.of(), Map.of(), Set.of(), Map.of());

  ChildBook {
    alive = Map.copyOf(alive);
    next = Map.copyOf(next);
    released = Set.copyOf(released);
    endings = Map.copyOf(endings);
  }

  /**
   * Processes are wanted.
   *
   * @param starts those that do not live yet
   * @param outdated names of those that live as another process than is wanted, which is {@link
   *     #next}
   */
  record Mustered(ChildBook book, List<ChildSpec> starts, Set<String> outdated) {
    Mustered {
      starts = List.copyOf(starts);
      outdated = Set.copyOf(outdated);
    }
  }

  /** A process has ended. */
  record Ended(ChildBook book, Fate fate) {}

  /** What becomes of a process that ended. */
  sealed interface Fate {
    /** Nobody needs another one. */
    record Over() implements Fate {}

    /** It was the last one that was no longer wanted. */
    record Cleared() implements Fate {}

    /** Another process takes its place now. */
    record Replaced(ChildSpec by) implements Fate {}

    /** It is started again. */
    record Again(long afterMillis) implements Fate {}

    /** It ended so often that it is started again only after a long pause. */
    record Resting(int ends, long afterMillis) implements Fate {}
  }

  Mustered mustered(List<ChildSpec> wanted) {
    Map<String, ChildSpec> later = new LinkedHashMap<>(next);
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
    return new Mustered(new ChildBook(alive, later, released, endings), starts, outdated);
  }

  ChildBook started(ChildSpec child) {
    Map<String, ChildSpec> all = new LinkedHashMap<>(alive);
    all.put(child.name(), child);
    return new ChildBook(all, next, released, endings);
  }

  /** Those that live and are not kept are no longer wanted. */
  ChildBook release(Set<String> kept) {
    Set<String> gone = new LinkedHashSet<>(alive.keySet());
    gone.removeAll(kept);
    return new ChildBook(alive, only(next, kept), gone, only(endings, kept));
  }

  /** Whether none runs, because each that is wanted ended too often. */
  boolean allRest() {
    return alive.isEmpty()
        && !endings.isEmpty()
        && endings.values().stream().allMatch(Restarts::persistent);
  }

  /** None is wanted any more; those that live end one by one. */
  ChildBook over() {
    return new ChildBook(alive, Map.of(), Set.of(), Map.of());
  }

  private static <T> Map<String, T> only(Map<String, T> all, Set<String> names) {
    Map<String, T> those = new LinkedHashMap<>(all);
    those.keySet().retainAll(names);
    return those;
  }

  /**
   * A process has ended.
   *
   * @param exit its code; 0 if it was told to end
   */
  Ended ended(String child, int exit, long nowMillis) {
    Map<String, ChildSpec> others = new LinkedHashMap<>(alive);
    others.remove(child);
    if (released.contains(child)) {
      Set<String> left = new LinkedHashSet<>(released);
      left.remove(child);
      return new Ended(
          new ChildBook(others, next, left, endings),
          left.isEmpty() ? new Fate.Cleared() : new Fate.Over());
    }
    ChildSpec by = next.get(child);
    if (by != null) {
      Map<String, ChildSpec> later = new LinkedHashMap<>(next);
      later.remove(child);
      return new Ended(new ChildBook(others, later, released, endings), new Fate.Replaced(by));
    }
    if (exit == 0) {
      return new Ended(new ChildBook(others, next, released, endings), new Fate.Over());
    }
    Restarts known =
        endings.getOrDefault(child, Restarts.none(Restarts.Policy.DEFAULT)).ended(nowMillis);
    Map<String, Restarts> counted = new LinkedHashMap<>(endings);
    counted.put(child, known);
    return new Ended(
        new ChildBook(others, next, released, counted),
        known.persistent()
            ? new Fate.Resting(known.endings().size(), known.pauseMillis())
            : new Fate.Again(known.pauseMillis()));
  }
}
