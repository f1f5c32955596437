package io.troupe.core.run;

import io.troupe.core.ImmutableMapView;
import io.troupe.core.PersistentMap;
import io.troupe.core.rollout.GroupId;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * The groups that have not ended, each also under the stage it is in, so that no question about a
 * stage looks at the groups of the others: the cost of an event does not grow with the groups in
 * flight. It never changes.
 */
final class LiveGroups extends ImmutableMapView<GroupId, Group> {
  static final LiveGroups NONE =
      new LiveGroups(
          PersistentMap.empty(),
          PersistentMap.empty(),
          PersistentMap.empty(),
          PersistentMap.empty(),
          PersistentMap.empty());

  private final PersistentMap<GroupId, Group> waiting;
  private final PersistentMap<GroupId, Group> leased;
  private final PersistentMap<GroupId, Group> buffered;
  private final PersistentMap<GroupId, Group> training;

  private LiveGroups(
      PersistentMap<GroupId, Group> all,
      PersistentMap<GroupId, Group> waiting,
      PersistentMap<GroupId, Group> leased,
      PersistentMap<GroupId, Group> buffered,
      PersistentMap<GroupId, Group> training) {
    super(all);
    this.waiting = waiting;
    this.leased = leased;
    this.buffered = buffered;
    this.training = training;
  }

  /** The same groups; the object itself if it is one of these. */
  static LiveGroups of(Map<GroupId, Group> groups) {
    if (groups instanceof LiveGroups same) {
      return same;
    }
    LiveGroups live = NONE;
    for (Group group : groups.values()) {
      live = live.with(group);
    }
    return live;
  }

  /** With a group, in place of what it was before. */
  LiveGroups with(Group group) {
    Class<?> before =
        all.find(group.id()).<Class<?>>map(known -> known.stage().getClass()).orElse(Void.class);
    return new LiveGroups(
        all.with(group.id(), group),
        moved(waiting, Group.Waiting.class, before, group),
        moved(leased, Group.Leased.class, before, group),
        moved(buffered, Group.Buffered.class, before, group),
        moved(training, Group.Training.class, before, group));
  }

  /** The groups of a stage after a group moved from the stage {@code before} to its own. */
  private static PersistentMap<GroupId, Group> moved(
      PersistentMap<GroupId, Group> groups, Class<?> stage, Class<?> before, Group group) {
    if (stage.isInstance(group.stage())) {
      return groups.with(group.id(), group);
    }
    return stage == before ? groups.without(group.id()) : groups;
  }

  /** With groups in training that were buffered. */
  LiveGroups train(SortedMap<GroupId, Group> batch) {
    return new LiveGroups(
        all.withAll(batch),
        waiting,
        leased,
        buffered.withoutAll(batch.keySet()),
        training.withAll(batch));
  }

  LiveGroups without(GroupId id) {
    Optional<Group> known = all.find(id);
    if (known.isEmpty()) {
      return this;
    }
    Group.Stage stage = known.get().stage();
    return new LiveGroups(
        all.without(id),
        stage instanceof Group.Waiting ? waiting.without(id) : waiting,
        stage instanceof Group.Leased ? leased.without(id) : leased,
        stage instanceof Group.Buffered ? buffered.without(id) : buffered,
        stage instanceof Group.Training ? training.without(id) : training);
  }

  /** Without the groups of the step that is over. */
  LiveGroups withoutTraining() {
    return new LiveGroups(
        all.withoutAll(training.keySet()), waiting, leased, buffered, PersistentMap.empty());
  }

  Collection<Group> waiting() {
    return waiting.values();
  }

  Collection<Group> leased() {
    return leased.values();
  }

  Collection<Group> buffered() {
    return buffered.values();
  }

  Collection<Group> training() {
    return training.values();
  }
}
