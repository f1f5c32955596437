package io.troupe.cluster.split;

import akka.actor.AbstractActorWithTimers;
import akka.actor.Address;
import akka.cluster.Cluster;
import akka.cluster.ClusterEvent;
import akka.cluster.Member;
import akka.cluster.MemberStatus;
import akka.pattern.Patterns;
import akka.remote.artery.ThisActorSystemQuarantinedEvent;
import io.troupe.store.folder.RunLease;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches which members are reachable and applies {@link SplitBrainRule} to those that have been
 * unreachable for too long. It is a classic actor because Akka's cluster starts it.
 */
final class SplitBrainResolver extends AbstractActorWithTimers {
  private static final Logger LOG = LoggerFactory.getLogger(SplitBrainResolver.class);
  private static final Duration RETRY_INTERVAL = Duration.ofMillis(500);

  /** Runs calls of the lease, which a network file system may delay. */
  private static final Executor BLOCKING = task -> Thread.ofVirtual().name("lease").start(task);

  /** Greater than every number that the cluster gives to its members. */
  private static final int JOINING_AGE = Integer.MAX_VALUE / 2;

  private enum Decide {
    NOW
  }

  /**
   * The outcome of an attempt to take the lease.
   *
   * @param trouble why the attempt failed with an error; "" if it did not
   */
  private record Claimed(boolean held, String trouble) {}

  /**
   * The outcome of a check of the lease.
   *
   * @param trouble why the check failed with an error; "" if it did not
   */
  private record Confirmed(boolean held, String trouble) {}

  private final Duration stableAfter;
  private final Duration leasePatience;
  private final Duration noCoordinatorPatience;
  private final Optional<RunLease> lease;
  private final Cluster cluster = Cluster.get(getContext().getSystem());
  private final Map<Address, Long> unreachableSince = new HashMap<>();
  private boolean claiming;
  private boolean confirming;
  private boolean refusalLogged;
  private Optional<Long> claimingSince = Optional.empty();
  private Optional<Long> noCoordinatorSince = Optional.empty();

  SplitBrainResolver(
      Duration stableAfter,
      Duration leasePatience,
      Duration noCoordinatorPatience,
      Optional<RunLease> lease) {
    this.stableAfter = stableAfter;
    this.leasePatience = leasePatience;
    this.noCoordinatorPatience = noCoordinatorPatience;
    this.lease = lease;
  }

  @Override
  public void preStart() {
    cluster.subscribe(
        getSelf(),
        ClusterEvent.initialStateAsEvents(),
        ClusterEvent.MemberRemoved.class,
        ClusterEvent.ReachabilityEvent.class);
    getContext()
        .getSystem()
        .eventStream()
        .subscribe(getSelf(), ThisActorSystemQuarantinedEvent.class);
  }

  @Override
  public void postStop() {
    cluster.unsubscribe(getSelf());
    getContext().getSystem().eventStream().unsubscribe(getSelf());
  }

  @Override
  public Receive createReceive() {
    return receiveBuilder()
        .match(ClusterEvent.UnreachableMember.class, it -> onUnreachable(it.member().address()))
        .match(ClusterEvent.ReachableMember.class, it -> onReachable(it.member().address()))
        .match(ClusterEvent.MemberRemoved.class, it -> onReachable(it.member().address()))
        .match(ThisActorSystemQuarantinedEvent.class, _ -> onQuarantined())
        .match(Claimed.class, this::onClaimed)
        .match(Confirmed.class, this::onConfirmed)
        .matchEquals(Decide.NOW, _ -> decide())
        .build();
  }

  /**
   * Every member has its own clock: on a busy machine some member is always unreachable for a
   * moment, and it must not delay the removal of dead members.
   *
   * <p>The set of unreachable members comes from the events and not from {@code cluster.state()},
   * which another actor updates and which may lag behind the event. No later event is certain.
   */
  private void onUnreachable(Address member) {
    LOG.info("unreachable={}", member);
    unreachableSince.putIfAbsent(member, System.nanoTime());
    if (!getTimers().isTimerActive(Decide.NOW)) {
      decideIn(untilLost());
    }
  }

  private void onReachable(Address member) {
    if (unreachableSince.remove(member) == null) {
      return;
    }
    if (unreachableSince.isEmpty()) {
      getTimers().cancel(Decide.NOW);
    }
    if (lost().isEmpty()) {
      claimingSince = Optional.empty();
      noCoordinatorSince = Optional.empty();
    }
  }

  private void decideIn(Duration pause) {
    getTimers().startSingleTimer(Decide.NOW, Decide.NOW, pause);
  }

  /** The members that have been unreachable for long enough to count as lost. */
  private Set<Address> lost() {
    long latest = System.nanoTime() - stableAfter.toNanos();
    return unreachableSince.entrySet().stream()
        .filter(one -> one.getValue() <= latest)
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  /**
   * The time until the next unreachable member counts as lost; the retry interval if there is none.
   */
  private Duration untilLost() {
    long now = System.nanoTime();
    long left =
        unreachableSince.values().stream()
            .mapToLong(since -> since + stableAfter.toNanos() - now)
            .filter(nanos -> nanos > 0)
            .min()
            .orElse(RETRY_INTERVAL.toNanos());
    return Duration.ofNanos(left);
  }

  private static Set<Address> addresses(Iterable<Member> members) {
    Set<Address> addresses = new HashSet<>();
    members.forEach(member -> addresses.add(member.address()));
    return addresses;
  }

  private void decide() {
    Set<Address> lost = lost();
    if (!unreachableSince.isEmpty()) {
      decideIn(lost.isEmpty() ? untilLost() : RETRY_INTERVAL);
    }
    if (lost.isEmpty()) {
      return;
    }
    SplitBrainRule.Action verdict =
        SplitBrainRule.verdict(
            views(lost), age(cluster.selfMember()), lease.map(RunLease::held).orElse(false));
    if (verdict != SplitBrainRule.Action.LEAVE) {
      noCoordinatorSince = Optional.empty();
    }
    if (verdict != SplitBrainRule.Action.CLAIM) {
      claimingSince = Optional.empty();
    }
    switch (verdict) {
      case REMOVE -> confirm(lost);
      case CLAIM -> claim(lost);
      case WAIT -> LOG.debug("split lost={} verdict=wait", lost);
      case LEAVE -> onNoCoordinator(lost);
    }
  }

  private List<SplitBrainRule.MemberView> views(Set<Address> lost) {
    List<SplitBrainRule.MemberView> views = new ArrayList<>();
    for (Member member : cluster.state().getMembers()) {
      if (counts(member)) {
        views.add(
            new SplitBrainRule.MemberView(
                kind(member), !lost.contains(member.address()), age(member)));
      }
    }
    return views;
  }

  /** Members that join come last, in the order in which the cluster will number them. */
  private int age(Member member) {
    if (!isNew(member)) {
      return member.upNumber();
    }
    int before = 0;
    for (Member other : cluster.state().getMembers()) {
      before +=
          isNew(other) && Member.addressOrdering().compare(other.address(), member.address()) < 0
              ? 1
              : 0;
    }
    return JOINING_AGE + before;
  }

  /**
   * Checks the lease before members are removed: a file server may have given it to another
   * process.
   */
  private void confirm(Set<Address> lost) {
    Optional<RunLease> held = lease.filter(RunLease::held);
    if (held.isEmpty()) {
      remove(lost); // No member of this cluster can coordinate.
    } else if (!confirming) {
      confirming = true;
      RunLease own = held.get();
      Patterns.pipe(
              CompletableFuture.supplyAsync(() -> confirmLease(own), BLOCKING),
              getContext().getDispatcher())
          .to(getSelf());
    }
  }

  private static Confirmed confirmLease(RunLease lease) {
    try {
      return new Confirmed(lease.confirm(), "");
    } catch (IOException | RuntimeException trouble) {
      return new Confirmed(false, String.valueOf(trouble));
    }
  }

  private void onConfirmed(Confirmed confirmed) {
    confirming = false;
    Set<Address> lost = lost();
    if (confirmed.held()) {
      remove(lost);
    } else if (confirmed.trouble().isEmpty()) {
      LOG.error(
          "split lost={} verdict=leave: the run's lease was given to {} while this process was cut"
              + " off",
          lost,
          lease.map(RunLease::holder).orElse("another process"));
      cluster.down(cluster.selfAddress());
    } else if (!lost.isEmpty()) {
      LOG.warn(
          "split lost={}: the run's lease cannot be checked now: {}", lost, confirmed.trouble());
      decideIn(RETRY_INTERVAL);
    }
  }

  private void remove(Set<Address> lost) {
    Set<Address> all = new HashSet<>();
    for (Member member : cluster.state().getMembers()) {
      if (lost.contains(member.address()) && !member.status().equals(MemberStatus.down())) {
        all.add(member.address());
      }
    }
    if (!all.isEmpty()) {
      LOG.warn("split lost={} verdict=remove", all);
      all.forEach(cluster::down);
    }
  }

  /** No process of this side removes members, so waiting for a slow coordinator is safe. */
  private void onNoCoordinator(Set<Address> lost) {
    long now = System.nanoTime();
    if (noCoordinatorSince.isEmpty()) {
      LOG.warn("split lost={}: no process on this side can coordinate", lost);
      noCoordinatorSince = Optional.of(now);
    }
    if (now - noCoordinatorSince.get() >= noCoordinatorPatience.toNanos()) {
      LOG.warn("split lost={} verdict=leave: no process on this side can coordinate", lost);
      cluster.down(cluster.selfAddress());
    }
  }

  private void claim(Set<Address> lost) {
    if (claiming || lease.isEmpty()) {
      return;
    }
    claiming = true;
    if (claimingSince.isEmpty()) {
      claimingSince = Optional.of(System.nanoTime());
      refusalLogged = false;
      LOG.warn("split lost={} verdict=claim", lost);
    }
    RunLease wanted = lease.get();
    Patterns.pipe(
            CompletableFuture.supplyAsync(() -> take(wanted), BLOCKING),
            getContext().getDispatcher())
        .to(getSelf());
  }

  private static Claimed take(RunLease lease) {
    try {
      return new Claimed(lease.take(), "");
    } catch (IOException | RuntimeException trouble) {
      return new Claimed(false, String.valueOf(trouble));
    }
  }

  private void onClaimed(Claimed claimed) {
    claiming = false;
    Set<Address> lost = lost();
    if (claimed.held()) {
      decide();
    } else if (claimingSince.isPresent() && !lost.isEmpty()) {
      onRefused(lost, claimed.trouble(), System.nanoTime() - claimingSince.get());
    }
  }

  private void onRefused(Set<Address> lost, String trouble, long nanos) {
    String holder = lease.map(RunLease::holder).orElse("nobody");
    if (!refusalLogged) {
      refusalLogged = true;
      LOG.warn(
          "split lost={}: the run's lease is held by {}. Should that process hang, end it with"
              + " kill -9, and this side continues {}",
          lost,
          holder,
          trouble);
    }
    if (nanos >= leasePatience.toNanos()) {
      LOG.warn(
          "split lost={} verdict=leave: the lease could not be taken for {} s; it is held by {} {}",
          lost,
          leasePatience.toSeconds(),
          holder,
          trouble);
      Set<Address> side = addresses(cluster.state().getMembers());
      side.removeAll(lost);
      side.remove(cluster.selfAddress());
      side.forEach(cluster::down);
      cluster.down(cluster.selfAddress()); // Last: a process that is down no longer gossips.
    }
  }

  /** The surviving side has removed this process and refuses its messages. */
  private void onQuarantined() {
    LOG.warn("split verdict=leave: the others have removed this process");
    cluster.down(cluster.selfAddress());
  }

  /**
   * A process that can coordinate counts while it joins, because no member is admitted while
   * another is lost: after the loss of all coordinators only it can remove them.
   */
  private static boolean counts(Member member) {
    return member.status().equals(MemberStatus.up())
        || member.status().equals(MemberStatus.leaving())
        || (isNew(member) && kind(member) == SplitBrainRule.MemberKind.COORDINATOR);
  }

  private static boolean isNew(Member member) {
    return member.status().equals(MemberStatus.joining())
        || member.status().equals(MemberStatus.weaklyUp());
  }

  private static SplitBrainRule.MemberKind kind(Member member) {
    if (member.hasRole("coordinator")) {
      return SplitBrainRule.MemberKind.COORDINATOR;
    }
    return member.hasRole("node")
        ? SplitBrainRule.MemberKind.NODE
        : SplitBrainRule.MemberKind.WORKER;
  }
}
