package io.troupe.cluster.membership;

import akka.actor.Address;
import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.cluster.ClusterEvent;
import akka.cluster.Member;
import akka.cluster.MemberStatus;
import akka.cluster.typed.Cluster;
import akka.cluster.typed.Subscribe;
import io.troupe.base.net.HostPort;
import java.io.IOException;

/** Records the members that this process can contact if it loses the cluster. */
public final class MemberTracker {
  /** The name of the actor. */
  public static final String NAME = "member-tracker";

  private MemberTracker() {}

  public static Behavior<ClusterEvent.MemberEvent> create(KnownMembers known) {
    return Behaviors.setup(
        context -> {
          Cluster cluster = Cluster.get(context.getSystem());
          ActorRef<ClusterEvent.MemberEvent> self = context.getSelf();
          cluster.subscriptions().tell(Subscribe.create(self, ClusterEvent.MemberEvent.class));
          Address own = cluster.selfMember().address();
          return Behaviors.receive(ClusterEvent.MemberEvent.class)
              .onAnyMessage(
                  event -> {
                    if (isKnownKind(event.member(), own)) {
                      note(context, known, event);
                    }
                    return Behaviors.same();
                  })
              .build();
        });
  }

  /** Workers have no join gate. */
  private static boolean isKnownKind(Member member, Address own) {
    return !member.address().equals(own)
        && (member.hasRole("node") || member.hasRole("coordinator"));
  }

  private static void note(
      ActorContext<?> context, KnownMembers known, ClusterEvent.MemberEvent event) {
    Address address = event.member().address();
    HostPort member =
        new HostPort(address.getHost().orElseThrow(), address.getPort().orElseThrow());
    try {
      if (event instanceof ClusterEvent.MemberUp) {
        known.add(member);
      } else if (event instanceof ClusterEvent.MemberRemoved removed
          && removed.previousStatus().equals(MemberStatus.exiting())) {
        known.remove(member);
      }
    } catch (IOException e) {
      // Only a restarted process misses the member: this one knows it.
      context.getLog().warn("known members cannot be written: {}", e.getMessage());
    }
  }
}
