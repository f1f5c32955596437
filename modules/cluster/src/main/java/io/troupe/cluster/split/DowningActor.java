package io.troupe.cluster.split;

import akka.actor.AbstractActorWithTimers;
import akka.actor.Address;
import akka.cluster.Cluster;
import akka.cluster.ClusterEvent;
import akka.cluster.Member;
import akka.cluster.MemberStatus;
import akka.pattern.Patterns;
import akka.remote.artery.ThisActorSystemQuarantinedEvent;
import io.troupe.store.RunLease;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches who is reachable, and once that has not changed for a while carries out {@link
 * SplitRule}. It is a classic actor because the cluster starts it.
 */
final class DowningActor extends AbstractActorWithTimers {
  private static final Logger LOG = LoggerFactory.getLogger(DowningActor.class);
  private static final Duration TRY_AGAIN = Duration.ofMillis(500);

  /** A file system of a network may take its time. */
  private static final Executor BLOCKING = task -> Thread.ofVirtual().name("lease").start(task);

  private enum Decide {
    NOW
  }

  /**
   * How an attempt to take the lease ended.
   *
   * @param trouble why it could not be tried; "" when it could
   */
  private record Claimed(boolean held, String trouble) {}

  private final Duration stableAfter;
  private final Duration leasePatience;
  private final Duration headlessPatience;
  private final Optional<RunLease> lease;
  private final Cluster cluster = Cluster.get(getContext().getSystem());
  private Set<Address> unreachable = Set.of();
  private Set<Address> members = Set.of();
  private boolean claiming;
  private boolean told;
  private Optional<Long> claimingSince = Optional.empty();
  private Optional<Long> headlessSince = Optional.empty();

  DowningActor(
      Duration stableAfter,
      Duration leasePatience,
      Duration headlessPatience,
      Optional<RunLease> lease) {
    this.stableAfter = stableAfter;
    this.leasePatience = leasePatience;
    this.headlessPatience = headlessPatience;
    this.lease = lease;
  }

  @Override
  public void preStart() {
    cluster.subscribe(
        getSelf(),
        ClusterEvent.initialStateAsEvents(),
        ClusterEvent.MemberEvent.class,
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
        .match(ClusterEvent.ClusterDomainEvent.class, _ -> look())
        .match(ThisActorSystemQuarantinedEvent.class, _ -> onQuarantined())
        .match(Claimed.class, this::onClaimed)
        .matchEquals(Decide.NOW, _ -> decide())
        .build();
  }

  private void look() {
    Set<Address> gone = addresses(cluster.state().getUnreachable());
    Set<Address> all = addresses(cluster.state().getMembers());
    if (gone.isEmpty()) {
      getTimers().cancel(Decide.NOW);
      claimingSince = Optional.empty();
      headlessSince = Optional.empty();
    } else if (!gone.equals(unreachable) || !all.equals(members)) {
      getTimers().startSingleTimer(Decide.NOW, Decide.NOW, stableAfter);
      claimingSince = Optional.empty();
    }
    unreachable = gone;
    members = all;
  }

  private static Set<Address> addresses(Iterable<Member> members) {
    Set<Address> addresses = new HashSet<>();
    members.forEach(member -> addresses.add(member.address()));
    return addresses;
  }

  private void decide() {
    if (unreachable.isEmpty()) {
      return;
    }
    List<SplitRule.Seen> seen = new ArrayList<>();
    for (Member member : cluster.state().getMembers()) {
      if (counts(member)) {
        seen.add(
            new SplitRule.Seen(
                part(member), !unreachable.contains(member.address()), member.upNumber()));
      }
    }
    int self = cluster.selfMember().upNumber();
    SplitRule.Verdict verdict =
        SplitRule.verdict(seen, self, lease.map(RunLease::held).orElse(false));
    if (verdict != SplitRule.Verdict.LEAVE) {
      headlessSince = Optional.empty();
    }
    switch (verdict) {
      case REMOVE -> {
        LOG.warn("split lost={} verdict=remove", unreachable);
        unreachable.forEach(cluster::down);
      }
      case CLAIM -> claim();
      case WAIT -> LOG.info("split lost={} verdict=wait", unreachable);
      case LEAVE -> onHeadless();
    }
  }

  /** Nobody here removes anybody, so waiting for a head that is only slow costs nothing. */
  private void onHeadless() {
    long now = System.nanoTime();
    if (headlessSince.isEmpty()) {
      LOG.warn("split lost={}: nobody here could be the head", unreachable);
      headlessSince = Optional.of(now);
    }
    long left = headlessPatience.toNanos() - (now - headlessSince.get());
    if (left > 0) {
      getTimers().startSingleTimer(Decide.NOW, Decide.NOW, Duration.ofNanos(left));
    } else {
      LOG.warn("split lost={} verdict=leave: nobody here could be the head", unreachable);
      cluster.down(cluster.selfAddress());
    }
  }

  private void claim() {
    if (claiming || lease.isEmpty()) {
      return;
    }
    claiming = true;
    if (claimingSince.isEmpty()) {
      claimingSince = Optional.of(System.nanoTime());
      told = false;
      LOG.warn("split lost={} verdict=claim", unreachable);
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
    } catch (IOException | UncheckedIOException trouble) {
      return new Claimed(false, String.valueOf(trouble.getMessage()));
    }
  }

  private void onClaimed(Claimed claimed) {
    claiming = false;
    if (claimingSince.isEmpty()) {
      return; // Who is reachable has changed meanwhile; the timer runs if anybody is not.
    }
    if (!claimed.held() && !told) {
      told = true;
      LOG.warn(
          "split lost={}: the run's lease is held by {}. Should that process hang, end it with kill"
              + " -9, and this side goes on {}",
          unreachable,
          lease.map(RunLease::holder).orElse("nobody"),
          claimed.trouble());
    }
    if (claimed.held()) {
      decide();
    } else if (System.nanoTime() - claimingSince.get() < leasePatience.toNanos()) {
      getTimers().startSingleTimer(Decide.NOW, Decide.NOW, TRY_AGAIN);
    } else {
      LOG.warn(
          "split lost={} verdict=leave: the lease was not to be had for {} s; it is held by {} {}",
          unreachable,
          leasePatience.toSeconds(),
          lease.map(RunLease::holder).orElse("nobody"),
          claimed.trouble());
      members.stream().filter(one -> !unreachable.contains(one)).forEach(cluster::down);
    }
  }

  /** The side that went on has removed this process, and will not talk to it again. */
  private void onQuarantined() {
    LOG.warn("split verdict=leave: the others have removed this process");
    cluster.down(cluster.selfAddress());
  }

  private static boolean counts(Member member) {
    return member.status().equals(MemberStatus.up())
        || member.status().equals(MemberStatus.leaving());
  }

  private static SplitRule.Part part(Member member) {
    if (member.hasRole("coordinator")) {
      return SplitRule.Part.HEAD;
    }
    return member.hasRole("node") ? SplitRule.Part.NODE : SplitRule.Part.WORKER;
  }
}
