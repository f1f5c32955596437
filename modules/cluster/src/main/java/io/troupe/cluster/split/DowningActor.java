package io.troupe.cluster.split;

import akka.actor.AbstractActorWithTimers;
import akka.actor.Address;
import akka.cluster.Cluster;
import akka.cluster.ClusterEvent;
import akka.cluster.Member;
import akka.cluster.MemberStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches who is reachable, and once that has not changed for a while carries out {@link
 * SplitRule}: on the side that goes on, the first member by address removes the others; on the
 * other side every member removes itself. It is a classic actor because the cluster starts it.
 */
final class DowningActor extends AbstractActorWithTimers {
  private static final Logger LOG = LoggerFactory.getLogger(DowningActor.class);

  private enum Decide {
    NOW
  }

  private final Duration stableAfter;
  private final Cluster cluster = Cluster.get(getContext().getSystem());
  private Set<Address> unreachable = Set.of();
  private Set<Address> members = Set.of();

  DowningActor(Duration stableAfter) {
    this.stableAfter = stableAfter;
  }

  @Override
  public void preStart() {
    cluster.subscribe(
        getSelf(),
        ClusterEvent.initialStateAsEvents(),
        ClusterEvent.MemberEvent.class,
        ClusterEvent.ReachabilityEvent.class);
  }

  @Override
  public void postStop() {
    cluster.unsubscribe(getSelf());
  }

  @Override
  public Receive createReceive() {
    return receiveBuilder()
        .match(ClusterEvent.ClusterDomainEvent.class, _ -> look())
        .matchEquals(Decide.NOW, _ -> decide())
        .build();
  }

  private void look() {
    Set<Address> gone = addresses(cluster.state().getUnreachable());
    Set<Address> all = addresses(cluster.state().getMembers());
    if (gone.isEmpty()) {
      getTimers().cancel(Decide.NOW);
    } else if (!gone.equals(unreachable) || !all.equals(members)) {
      getTimers().startSingleTimer(Decide.NOW, Decide.NOW, stableAfter);
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
    List<SplitRule.Seen> seen = new ArrayList<>();
    List<Address> here = new ArrayList<>();
    for (Member member : cluster.state().getMembers()) {
      if (counts(member)) {
        boolean reachable = !unreachable.contains(member.address());
        seen.add(new SplitRule.Seen(part(member), reachable, member.upNumber()));
        if (reachable) {
          here.add(member.address());
        }
      }
    }
    if (!SplitRule.goesOn(seen)) {
      LOG.warn("split lost={} verdict=leave: the other side goes on", unreachable);
      cluster.down(cluster.selfAddress());
    } else if (here.stream()
        .min(Address.addressOrdering())
        .filter(cluster.selfAddress()::equals)
        .isPresent()) {
      LOG.warn("split lost={} verdict=remove", unreachable);
      unreachable.forEach(cluster::down);
    }
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
