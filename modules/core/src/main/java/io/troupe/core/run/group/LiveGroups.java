package io.troupe.core.run.group;

import io.troupe.core.ImmutableSortedMap;
import io.troupe.core.rollout.GroupId;
import java.util.AbstractCollection;
import java.util.AbstractSet;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The groups that have not ended, in one tree with a lane for each stage, so that no question about
 * a stage looks at the groups of the others: the cost of an event does not grow with the groups in
 * flight. It never changes.
 */
public final class LiveGroups extends ImmutableSortedMap<GroupId, Group> {
  private static final int WAITING = 0;
  private static final int LEASED = 1;
  private static final int BUFFERED = 2;
  private static final int TRAINING = 3;

  public static final LiveGroups NONE = new LiveGroups(GroupTree.EMPTY, new int[GroupTree.LANES]);

  private final GroupTree tree;

  /** Groups in each lane. */
  private final int[] sizes;

  private LiveGroups(GroupTree tree, int[] sizes) {
    this.tree = tree;
    this.sizes = sizes;
  }

  /** Returns the same groups; the given map itself if it is a {@code LiveGroups}. */
  public static LiveGroups of(Map<GroupId, Group> groups) {
    if (groups instanceof LiveGroups same) {
      return same;
    }
    LiveGroups live = NONE;
    for (Group group : groups.values()) {
      live = live.with(group);
    }
    return live;
  }

  private static int laneOf(Group group) {
    return switch (group.stage()) {
      case Group.Waiting _ -> WAITING;
      case Group.Leased _ -> LEASED;
      case Group.Buffered _ -> BUFFERED;
      case Group.Training _ -> TRAINING;
    };
  }

  /** With a group, in place of what it was before. */
  public LiveGroups with(Group group) {
    int lane = laneOf(group);
    int[] next = sizes.clone();
    tree.find(group.id()).ifPresent(before -> next[laneOf(before)]--);
    next[lane]++;
    return new LiveGroups(tree.with(group, lane), next);
  }

  public LiveGroups without(GroupId id) {
    Optional<Group> known = tree.find(id);
    if (known.isEmpty()) {
      return this;
    }
    int[] next = sizes.clone();
    next[laneOf(known.get())]--;
    return new LiveGroups(tree.without(id), next);
  }

  /** With groups in training that were buffered. */
  public LiveGroups train(List<Group> batch) {
    GroupTree next = tree;
    for (Group group : batch) {
      next = next.with(group, TRAINING);
    }
    int[] counts = sizes.clone();
    counts[BUFFERED] -= batch.size();
    counts[TRAINING] += batch.size();
    return new LiveGroups(next, counts);
  }

  /** Without the groups of the step that is over, but for those that are buffered again. */
  public LiveGroups endTraining(List<Group> kept) {
    GroupTree rest = tree;
    for (Iterator<Group> trained = tree.iterator(TRAINING); trained.hasNext(); ) {
      rest = rest.without(trained.next().id());
    }
    for (Group group : kept) {
      rest = rest.with(group, BUFFERED);
    }
    int[] counts = sizes.clone();
    counts[TRAINING] = 0;
    counts[BUFFERED] += kept.size();
    return new LiveGroups(rest, counts);
  }

  public Collection<Group> waiting() {
    return lane(WAITING);
  }

  public Collection<Group> leased() {
    return lane(LEASED);
  }

  public Collection<Group> buffered() {
    return lane(BUFFERED);
  }

  public Collection<Group> training() {
    return lane(TRAINING);
  }

  private Collection<Group> lane(int lane) {
    return new AbstractCollection<>() {
      @Override
      public Iterator<Group> iterator() {
        return tree.iterator(lane);
      }

      @Override
      public int size() {
        return sizes[lane];
      }
    };
  }

  @Override
  public Optional<Group> find(GroupId id) {
    return tree.find(id);
  }

  @Override
  public int size() {
    return sizes[WAITING] + sizes[LEASED] + sizes[BUFFERED] + sizes[TRAINING];
  }

  @Override
  public GroupId lastKey() {
    return tree.last().map(Group::id).orElseThrow(NoSuchElementException::new);
  }

  @Override
  public Set<Map.Entry<GroupId, Group>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public Iterator<Map.Entry<GroupId, Group>> iterator() {
        return mapped(tree.iterator(), group -> Map.entry(group.id(), group));
      }

      @Override
      public int size() {
        return LiveGroups.this.size();
      }
    };
  }

  private static <A, B> Iterator<B> mapped(Iterator<A> from, Function<A, B> how) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return from.hasNext();
      }

      @Override
      public B next() {
        return how.apply(from.next());
      }
    };
  }
}
