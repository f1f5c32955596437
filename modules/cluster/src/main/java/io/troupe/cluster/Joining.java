package io.troupe.cluster;

import akka.actor.Address;
import akka.actor.AddressFromURIString;
import akka.actor.typed.ActorRef;
import akka.actor.typed.ActorRefResolver;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.AskPattern;
import akka.cluster.MemberStatus;
import akka.cluster.typed.Cluster;
import akka.cluster.typed.Join;
import akka.cluster.typed.JoinSeedNodes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;

/**
 * Makes a process a member of a cluster, after a handshake that refuses strangers in words: the
 * cluster's own check would leave both sides with a guess.
 */
public final class Joining {
  private static final Duration ANSWER = Duration.ofSeconds(2);
  private static final long LOOK_AGAIN_MILLIS = 200;

  private Joining() {}

  /** The cluster cannot be joined; the message says why and what to do. */
  public static final class CannotJoinException extends Exception {
    private static final long serialVersionUID = 1L;

    public CannotJoinException(String message) {
      super(message);
    }
  }

  /** Begins a cluster of which this process is the first member. */
  public static void first(ActorSystem<?> system) {
    Cluster cluster = Cluster.get(system);
    cluster.manager().tell(Join.create(cluster.selfMember().address()));
  }

  /**
   * Joins the cluster of the first seed that answers. Blocks until this process is a member.
   *
   * @param who asks, for the log of the other side
   * @param patience how long seeds may take to answer, and then the cluster to let it in
   */
  public static void through(
      ActorSystem<?> system, List<HostPort> seeds, Pass pass, String who, Duration patience)
      throws CannotJoinException, InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    HostPort open = knock(system, seeds, pass, who, deadline, patience);
    List<Address> addresses =
        ClusterSettings.addresses(List.of(open)).stream().map(AddressFromURIString::parse).toList();
    Cluster cluster = Cluster.get(system);
    cluster.manager().tell(new JoinSeedNodes(addresses));
    while (!cluster.selfMember().status().equals(MemberStatus.up())) {
      if (System.nanoTime() > deadline) {
        throw new CannotJoinException(
            "%s answers, but the cluster did not let this process in within %d s: it may be waiting for a process that"
                    .formatted(open, patience.toSeconds())
                + " has just died; try again");
      }
      Thread.sleep(LOOK_AGAIN_MILLIS);
    }
  }

  private static HostPort knock(
      ActorSystem<?> system,
      List<HostPort> seeds,
      Pass pass,
      String who,
      long deadline,
      Duration patience)
      throws CannotJoinException, InterruptedException {
    do {
      for (HostPort seed : seeds) {
        try {
          Gate.Answer answer =
              AskPattern.<Gate.Command, Gate.Answer>ask(
                      gate(system, seed),
                      replyTo -> new Gate.Knock(pass, who, replyTo),
                      ANSWER,
                      system.scheduler())
                  .toCompletableFuture()
                  .get();
          switch (answer) {
            case Gate.Welcome _ -> {
              return seed;
            }
            case Gate.Refused(String reason) ->
                throw new CannotJoinException("%s refused: %s".formatted(seed, reason));
          }
        } catch (ExecutionException silent) {
          Thread.sleep(LOOK_AGAIN_MILLIS); // It may still be starting.
        }
      }
    } while (System.nanoTime() < deadline);
    throw new CannotJoinException(
        "no seed answered within %d s: %s. Is one of them running there, can this host reach it, and do both"
                .formatted(patience.toSeconds(), seeds)
            + " have the same cluster.tls settings?");
  }

  /** The gate of a process, member or not. */
  public static ActorRef<Gate.Command> gate(ActorSystem<?> system, HostPort at) {
    return ActorRefResolver.get(system)
        .resolveActorRef(
            "%s/user/%s".formatted(ClusterSettings.addresses(List.of(at)).getFirst(), Gate.NAME));
  }
}
