package io.troupe.core.audit;

import io.troupe.core.rollout.GroupId;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The groups that were admitted and have not ended, with their number in each stage and the sum of
 * their fingerprints, so that an audit goes through them neither after every record nor at every
 * position that a checkpoint may have.
 */
final class PendingGroups {
  private static final List<Class<? extends AuditedGroup.Stage>> STAGES =
      List.of(
          AuditedGroup.Waiting.class,
          AuditedGroup.Leased.class,
          AuditedGroup.Buffered.class,
          AuditedGroup.Training.class);

  private final Map<GroupId, AuditedGroup> groups = new HashMap<>();

  /** Groups of the running step, which is asked for at the end of each. */
  private final SortedMap<GroupId, AuditedGroup> training = new TreeMap<>();

  private final int[] counts = new int[STAGES.size()];
  private long fingerprint;

  /** Puts a group in place of what it was before, and returns that. */
  Optional<AuditedGroup> put(AuditedGroup group) {
    Optional<AuditedGroup> before = Optional.ofNullable(groups.put(group.id(), group));
    before.ifPresent(this::uncount);
    if (group.place() instanceof AuditedGroup.Training) {
      training.put(group.id(), group);
    }
    counts[indexOf(group.place().getClass())]++;
    fingerprint += group.fingerprint();
    return before;
  }

  Optional<AuditedGroup> remove(GroupId id) {
    Optional<AuditedGroup> before = Optional.ofNullable(groups.remove(id));
    before.ifPresent(this::uncount);
    return before;
  }

  private void uncount(AuditedGroup group) {
    if (group.place() instanceof AuditedGroup.Training) {
      training.remove(group.id());
    }
    counts[indexOf(group.place().getClass())]--;
    fingerprint -= group.fingerprint();
  }

  private static int indexOf(Class<?> stage) {
    return STAGES.indexOf(stage);
  }

  Optional<AuditedGroup> find(GroupId id) {
    return Optional.ofNullable(groups.get(id));
  }

  void clear() {
    groups.clear();
    training.clear();
    Arrays.fill(counts, 0);
    fingerprint = 0;
  }

  int size() {
    return groups.size();
  }

  /** The sum of all groups' fingerprints. */
  long fingerprint() {
    return fingerprint;
  }

  /** Returns the number of groups in a stage. */
  int count(Class<? extends AuditedGroup.Stage> stage) {
    return counts[indexOf(stage)];
  }

  Collection<AuditedGroup> all() {
    return groups.values();
  }

  /** The groups of a stage, by number. */
  List<AuditedGroup> in(Class<? extends AuditedGroup.Stage> stage) {
    return stage == AuditedGroup.Training.class
        ? List.copyOf(training.values())
        : groups.values().stream()
            .filter(group -> stage.isInstance(group.place()))
            .sorted(Comparator.comparing(AuditedGroup::id))
            .toList();
  }
}
