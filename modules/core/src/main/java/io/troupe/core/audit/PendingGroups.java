package io.troupe.core.audit;

import io.troupe.core.rollout.GroupId;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The groups that were admitted and have not ended, with their number in each stage, so that an
 * audit need not count them after every record.
 */
final class PendingGroups {
  private final SortedMap<GroupId, AuditedGroup> groups = new TreeMap<>();
  private final Map<Class<?>, Integer> counts = new HashMap<>();

  /** Puts a group in place of what it was before, and returns that. */
  Optional<AuditedGroup> put(AuditedGroup group) {
    Optional<AuditedGroup> before = Optional.ofNullable(groups.put(group.id(), group));
    before.ifPresent(known -> add(known, -1));
    add(group, 1);
    return before;
  }

  Optional<AuditedGroup> remove(GroupId id) {
    Optional<AuditedGroup> before = Optional.ofNullable(groups.remove(id));
    before.ifPresent(known -> add(known, -1));
    return before;
  }

  Optional<AuditedGroup> find(GroupId id) {
    return Optional.ofNullable(groups.get(id));
  }

  void clear() {
    groups.clear();
    counts.clear();
  }

  int size() {
    return groups.size();
  }

  /** How many groups are in a stage. */
  int count(Class<? extends AuditedGroup.Stage> stage) {
    return counts.getOrDefault(stage, 0);
  }

  Collection<AuditedGroup> all() {
    return groups.values();
  }

  /** The groups of a stage, by number. */
  List<AuditedGroup> in(Class<? extends AuditedGroup.Stage> stage) {
    return groups.values().stream().filter(group -> stage.isInstance(group.place())).toList();
  }

  private void add(AuditedGroup group, int more) {
    counts.merge(group.place().getClass(), more, Integer::sum);
  }
}
