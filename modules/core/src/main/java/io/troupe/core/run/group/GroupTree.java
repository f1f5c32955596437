package io.troupe.core.run.group;

import io.troupe.core.rollout.GroupId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * Groups by number, each in one of four lanes, and every lane in ascending order: a tree that never
 * changes and shares with its successor all but the path to the group that changed.
 */
final class GroupTree {
  /*
   * A radix tree of four bits a level. Group numbers follow the order of admission, so the groups
   * that live fill a few neighbouring leaves, and the levels above these have one child each. A node
   * keeps no place for absent children. For each lane it has 16 bits, which say whose subtrees hold
   * a group of that lane: one path is copied when a group changes its lane, and a walk through a
   * lane enters no subtree in vain.
   */
  static final int LANES = 4;

  private static final int BITS = 4;
  private static final int DIGIT = (1 << BITS) - 1;
  private static final int LANE_BITS = 1 << BITS;
  private static final long LANE = (1L << LANE_BITS) - 1;

  /** Bit 0 of every lane. */
  private static final long EVERY_LANE = 0x0001_0001_0001_0001L;

  private static final long ALL_LANES = -1;

  private static final Node NOTHING = new Node(0, new Object[0]);

  /** A tree without groups. */
  static final GroupTree EMPTY = new GroupTree(NOTHING, 0);

  private final Node root;

  /** Bits of a number below the root's digit. */
  private final int shift;

  private GroupTree(Node root, int shift) {
    this.root = root;
    this.shift = shift;
  }

  /** Children of one node, or groups of a leaf, in ascending order and without gaps. */
  private static final class Node {
    final long lanes;
    final Object[] slots;

    Node(long lanes, Object[] slots) {
      this.lanes = lanes;
      this.slots = slots;
    }

    int occupied() {
      return union(lanes);
    }

    int place(int bit) {
      return Integer.bitCount(occupied() & (bit - 1));
    }

    /** Bit 0 of each lane in which there is a group. */
    long inhabited() {
      long bits = 0;
      for (int lane = 0; lane < LANES; lane++) {
        int at = shiftOf(lane);
        bits |= (lanes >>> at & LANE) == 0 ? 0 : 1L << at;
      }
      return bits;
    }
  }

  /** The bits that are set in any lane. */
  private static int union(long lanes) {
    long halves = lanes | lanes >>> shiftOf(2);
    return (int) ((halves | halves >>> LANE_BITS) & LANE);
  }

  private static int shiftOf(int lane) {
    return lane * LANE_BITS;
  }

  /** The group of a number. */
  Optional<Group> find(GroupId id) {
    long number = id.number();
    if (number >>> shift > DIGIT) {
      return Optional.empty();
    }
    Node node = root;
    for (int level = shift; ; level -= BITS) {
      int bit = bit(number, level);
      if ((node.occupied() & bit) == 0) {
        return Optional.empty();
      }
      Object slot = node.slots[node.place(bit)];
      if (level == 0) {
        return Optional.of((Group) slot);
      }
      node = (Node) slot;
    }
  }

  private static int bit(long number, int level) {
    return 1 << (number >>> level & DIGIT);
  }

  /** With a group in a lane, in place of what it was before. */
  GroupTree with(Group group, int lane) {
    Node higher = root;
    int bits = shift;
    while (group.id().number() >>> bits > DIGIT) {
      higher = root == NOTHING ? NOTHING : new Node(higher.inhabited(), new Object[] {higher});
      bits += BITS;
    }
    return new GroupTree(put(higher, bits, group, lane), bits);
  }

  private static Node put(Node node, int level, Group group, int lane) {
    int bit = bit(group.id().number(), level);
    boolean known = (node.occupied() & bit) != 0;
    int place = node.place(bit);
    long lanes = node.lanes & ~(EVERY_LANE * bit);
    Object child;
    if (level == 0) {
      child = group;
      lanes |= (long) bit << shiftOf(lane);
    } else {
      Node below = put(known ? (Node) node.slots[place] : NOTHING, level - BITS, group, lane);
      child = below;
      lanes |= below.inhabited() * bit;
    }
    Object[] slots = new Object[node.slots.length + (known ? 0 : 1)];
    System.arraycopy(node.slots, 0, slots, 0, place);
    slots[place] = child;
    int next = known ? place + 1 : place;
    System.arraycopy(node.slots, next, slots, place + 1, node.slots.length - next);
    return new Node(lanes, slots);
  }

  /** Without a group, which it must have. */
  GroupTree without(GroupId id) {
    Node rest = remove(root, shift, id.number());
    return rest == NOTHING ? EMPTY : new GroupTree(rest, shift);
  }

  private static Node remove(Node node, int level, long number) {
    int bit = bit(number, level);
    int place = node.place(bit);
    long lanes = node.lanes & ~(EVERY_LANE * bit);
    Node below = level == 0 ? NOTHING : remove((Node) node.slots[place], level - BITS, number);
    if (below != NOTHING) {
      Object[] slots = node.slots.clone();
      slots[place] = below;
      return new Node(lanes | below.inhabited() * bit, slots);
    }
    if (node.slots.length == 1) {
      return NOTHING;
    }
    Object[] slots = new Object[node.slots.length - 1];
    System.arraycopy(node.slots, 0, slots, 0, place);
    System.arraycopy(node.slots, place + 1, slots, place, slots.length - place);
    return new Node(lanes, slots);
  }

  /** Iterates over all groups. */
  Iterator<Group> iterator() {
    return new Ascent(root, shift, ALL_LANES);
  }

  /** The groups of a lane. */
  Iterator<Group> iterator(int lane) {
    return new Ascent(root, shift, LANE << shiftOf(lane));
  }

  /** The group with the greatest number. */
  Optional<Group> last() {
    if (root == NOTHING) {
      return Optional.empty();
    }
    Object last = root;
    while (last instanceof Node node) {
      last = node.slots[node.slots.length - 1];
    }
    return Optional.of((Group) last);
  }

  /** Groups in ascending order; each node on the path has the bits of children still to visit. */
  private static final class Ascent implements Iterator<Group> {
    private final long lanes;
    private final List<Node> path = new ArrayList<>();
    private final int[] left;

    Ascent(Node root, int shift, long lanes) {
      this.lanes = lanes;
      this.left = new int[shift / BITS + 1];
      descend(root);
    }

    private void descend(Node from) {
      Node node = from;
      while (true) {
        int chosen = chosen(node);
        if (chosen == 0) {
          return; // Only a root has no group of the lanes.
        }
        left[path.size()] = chosen;
        path.add(node);
        if (path.size() == left.length) {
          return;
        }
        node = (Node) node.slots[node.place(Integer.lowestOneBit(chosen))];
      }
    }

    private int chosen(Node node) {
      return union(node.lanes & lanes);
    }

    @Override
    public boolean hasNext() {
      return !path.isEmpty();
    }

    @Override
    public Group next() {
      if (path.isEmpty()) {
        throw new NoSuchElementException();
      }
      Node leaf = path.getLast();
      Group next = (Group) leaf.slots[leaf.place(Integer.lowestOneBit(left[path.size() - 1]))];
      while (!path.isEmpty()) {
        int level = path.size() - 1;
        left[level] &= left[level] - 1;
        if (left[level] != 0) {
          break;
        }
        path.removeLast();
      }
      if (!path.isEmpty() && path.size() < left.length) {
        Node node = path.getLast();
        descend((Node) node.slots[node.place(Integer.lowestOneBit(left[path.size() - 1]))]);
      }
      return next;
    }
  }
}
