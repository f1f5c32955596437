package io.troupe.cluster.split;

import io.troupe.cluster.split.SplitBrainRule.MemberKind;
import io.troupe.cluster.split.SplitBrainRule.MemberView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * A cluster in steps of time, with everything that a real one may do differently in every process:
 * when it notices a loss, and when it hears of a removal. Each host has a process that can
 * coordinate, a node agent and a worker; the first host's coordinator has the lease, which dead
 * processes lose.
 */
final class SimulatedPartition {
  private static final int STABLE_AFTER = 4;
  private static final int LEASE_PATIENCE = 30;
  private static final int NO_COORDINATOR_PATIENCE = 16;
  private static final int SLOWEST_NOTICE = 6;

  /** One process and what it believes. */
  static final class Peer {
    private final int id;
    private final int host;
    private final MemberKind part;
    private boolean alive = true;
    private final Set<Integer> members = new HashSet<>();
    private final Map<Integer, Integer> silentFor = new HashMap<>();
    private final Map<Integer, Integer> notices = new HashMap<>();
    private Set<Integer> lost = Set.of();
    private int claimingFor;
    private int withoutCoordinatorFor;

    private Peer(int id, int host, MemberKind part) {
      this.id = id;
      this.host = host;
      this.part = part;
    }

    int host() {
      return host;
    }

    boolean alive() {
      return alive;
    }
  }

  private final List<Peer> processes = new ArrayList<>();
  private final Random random;
  private final List<Integer> side = new ArrayList<>();
  private Optional<Peer> lease = Optional.empty();
  private boolean removedWithoutLease;

  private SimulatedPartition(Random random) {
    this.random = random;
  }

  static SimulatedPartition hosts(int hosts, Random random) {
    SimulatedPartition world = new SimulatedPartition(random);
    for (int host = 0; host < hosts; host++) {
      world.side.add(0);
      for (MemberKind part : MemberKind.values()) {
        world.processes.add(new Peer(world.processes.size(), host, part));
      }
    }
    for (Peer one : world.processes) {
      for (Peer other : world.processes) {
        one.members.add(other.id);
        one.notices.put(other.id, 2 + random.nextInt(SLOWEST_NOTICE));
      }
    }
    world.lease = Optional.of(world.processes.getFirst());
    return world;
  }

  int hosts() {
    return side.size();
  }

  List<Peer> processes() {
    return processes;
  }

  boolean removedWithoutLease() {
    return removedWithoutLease;
  }

  /** The processes that coordinate: they hold the lease, and are the oldest in their own view. */
  List<Peer> coordinators() {
    return processes.stream()
        .filter(one -> one.alive && one.part == MemberKind.COORDINATOR && oldest(one))
        .filter(one -> lease.filter(one::equals).isPresent())
        .toList();
  }

  private boolean oldest(Peer one) {
    return one.members.stream()
        .map(processes::get)
        .filter(other -> other.part == MemberKind.COORDINATOR)
        .min(Comparator.comparingInt(other -> other.id))
        .filter(one::equals)
        .isPresent();
  }

  void crash(int id) {
    end(processes.get(id));
  }

  void crashHost(int host) {
    processes.stream().filter(one -> one.host == host).forEach(this::end);
  }

  void cut(List<Integer> sides) {
    for (int host = 0; host < side.size(); host++) {
      side.set(host, sides.get(host));
    }
  }

  void heal() {
    cut(side.stream().map(_ -> 0).toList());
  }

  private void end(Peer one) {
    one.alive = false;
    if (lease.filter(one::equals).isPresent()) {
      lease = Optional.empty();
    }
  }

  /** One unit of time; the processes take their turns in a random order. */
  void tick() {
    List<Peer> turns = new ArrayList<>(processes);
    for (int left = turns.size(); left > 0; left--) {
      Peer one = turns.remove(random.nextInt(left));
      if (one.alive) {
        hearOfRemovals(one);
      }
      if (one.alive) {
        look(one);
      }
    }
  }

  private boolean connected(Peer one, Peer other) {
    return other.alive && side.get(one.host).equals(side.get(other.host));
  }

  /** Gossip: who was removed by somebody that is heard, is removed, and ends when it hears so. */
  private void hearOfRemovals(Peer one) {
    for (Peer other : processes) {
      if (one.members.contains(other.id) && connected(one, other)) {
        if (!other.members.contains(one.id)) {
          end(one);
          return;
        }
        if (random.nextBoolean()) {
          one.members.retainAll(other.members);
        }
      }
    }
  }

  private void look(Peer one) {
    Set<Integer> lost = new HashSet<>();
    for (int id : one.members) {
      Peer other = processes.get(id);
      int silent = connected(one, other) ? 0 : one.silentFor.getOrDefault(id, 0) + 1;
      one.silentFor.put(id, silent);
      if (silent > one.notices.getOrDefault(id, 0) + STABLE_AFTER) {
        lost.add(id);
      }
    }
    one.claimingFor = lost.isEmpty() ? 0 : one.claimingFor;
    one.withoutCoordinatorFor = lost.isEmpty() ? 0 : one.withoutCoordinatorFor;
    one.lost = lost;
    if (!lost.isEmpty()) {
      decide(one);
    }
  }

  private void decide(Peer one) {
    List<MemberView> seen =
        one.members.stream()
            .map(processes::get)
            .map(other -> new MemberView(other.part, !one.lost.contains(other.id), other.id))
            .toList();
    boolean holds = lease.filter(one::equals).isPresent();
    switch (SplitBrainRule.verdict(seen, one.id, holds)) {
      case REMOVE -> remove(one, holds);
      case CLAIM -> {
        one.claimingFor++;
        if (lease.isEmpty()) {
          lease = Optional.of(one);
        } else if (one.claimingFor > LEASE_PATIENCE) {
          one.members.stream()
              .filter(id -> !one.lost.contains(id))
              .map(processes::get)
              .filter(other -> connected(one, other))
              .forEach(this::end);
        }
      }
      case WAIT -> {}
      case LEAVE -> {
        one.withoutCoordinatorFor++;
        if (one.withoutCoordinatorFor > NO_COORDINATOR_PATIENCE) {
          end(one);
        }
      }
    }
  }

  private void remove(Peer one, boolean holds) {
    boolean aHeadIsInvolved =
        one.members.stream().anyMatch(id -> processes.get(id).part == MemberKind.COORDINATOR);
    removedWithoutLease |= aHeadIsInvolved && !holds;
    one.members.removeAll(one.lost);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("lease " + lease.map(one -> one.id));
    for (Peer one : processes) {
      text.append(
          " · %d %s%s %s".formatted(one.id, one.part, one.alive ? "" : " dead", one.members));
    }
    return text.toString();
  }
}
