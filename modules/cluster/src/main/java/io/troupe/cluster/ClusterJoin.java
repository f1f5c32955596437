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
import io.troupe.base.net.HostPort;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.SeedNodes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Makes a process a member of a cluster, after a handshake that states why it refuses a process:
 * Akka's own check reports the reason to neither side.
 */
public final class ClusterJoin {
  private static final Duration ANSWER = Duration.ofSeconds(2);

  /**
   * The time for which no reachable process must have been a member before one of them may form a
   * cluster.
   */
  private static final Duration FORMING_DELAY = Duration.ofSeconds(5);

  private static final long POLL_MILLIS = 200;

  private ClusterJoin() {}

  /** The cluster cannot be joined; the message says why and what to do. */
  public static final class ClusterJoinException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean refused;

    public ClusterJoinException(String message) {
      this(message, false);
    }

    ClusterJoinException(String message, boolean refused) {
      super(message);
      this.refused = refused;
    }

    /** Whether a seed has refused this process, so that asking again is of no use. */
    public boolean refused() {
      return refused;
    }
  }

  /** Forms a cluster with this process as its first member. */
  public static void form(ActorSystem<?> system) {
    Cluster cluster = Cluster.get(system);
    cluster.manager().tell(Join.create(cluster.selfMember().address()));
  }

  /**
   * Joins the cluster of the first seed that accepts this process. Blocks until it is a member.
   *
   * @param who description of this process, for the log of the seed
   * @param patience time in which the seeds must answer and the cluster must admit this process
   */
  public static void joinVia(
      ActorSystem<?> system,
      SeedNodes seeds,
      ClusterIdentity identity,
      String who,
      Duration patience)
      throws ClusterJoinException, InterruptedException {
    try {
      joinOrForm(system, seeds, identity, who, patience, () -> false);
    } catch (IOException never) {
      throw new UncheckedIOException(never);
    }
  }

  /** The right to form a cluster. */
  public interface FormingRight {
    /**
     * Takes the right if it is available.
     *
     * @throws IOException if its holder cannot be determined
     */
    boolean take() throws IOException;
  }

  /**
   * Joins a cluster as {@link #joinVia} does, but forms one if no reachable process is a member, as
   * after the loss of every process that can coordinate.
   */
  public static void joinOrForm(
      ActorSystem<?> system,
      SeedNodes seeds,
      ClusterIdentity identity,
      String who,
      Duration patience,
      FormingRight formingRight)
      throws ClusterJoinException, InterruptedException, IOException {
    long deadline = System.nanoTime() + patience.toNanos();
    Optional<HostPort> member =
        findOpenMember(system, seeds, identity, who, deadline, patience, formingRight);
    if (member.isEmpty()) {
      form(system);
    } else {
      awaitMembership(system, member.get(), deadline, patience);
    }
  }

  private static void awaitMembership(
      ActorSystem<?> system, HostPort member, long deadline, Duration patience)
      throws ClusterJoinException, InterruptedException {
    List<Address> addresses =
        ClusterSettings.addresses(List.of(member)).stream()
            .map(AddressFromURIString::parse)
            .toList();
    Cluster cluster = Cluster.get(system);
    cluster.manager().tell(new JoinSeedNodes(addresses));
    while (!cluster.selfMember().status().equals(MemberStatus.up())) {
      requireAlive(system);
      if (System.nanoTime() > deadline) {
        throw new ClusterJoinException(
            "%s answers, but the cluster did not let this process in within %d s: it may be waiting for a process that"
                    .formatted(member, patience.toSeconds())
                + " has just died; try again");
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  /** Asks all seeds at once: dead seeds must not delay the living ones. */
  private static Optional<HostPort> findOpenMember(
      ActorSystem<?> system,
      SeedNodes seeds,
      ClusterIdentity identity,
      String who,
      long deadline,
      Duration patience,
      FormingRight formingRight)
      throws ClusterJoinException, InterruptedException, IOException {
    boolean foundNonMember = false;
    long since = System.nanoTime();
    do {
      requireAlive(system);
      Map<HostPort, CompletableFuture<JoinGate.Reply>> replies = new LinkedHashMap<>();
      seeds.all().forEach(seed -> replies.put(seed, ask(system, seed, identity, who)));
      for (Map.Entry<HostPort, CompletableFuture<JoinGate.Reply>> one : replies.entrySet()) {
        try {
          switch (one.getValue().get()) {
            case JoinGate.Accepted _ -> {
              return Optional.of(one.getKey());
            }
            case JoinGate.Rejected(String reason) -> {
              if (seeds.given().contains(one.getKey())) {
                throw new ClusterJoinException(
                    "%s refused: %s".formatted(one.getKey(), reason), true);
              }
            }
            case JoinGate.NotAMember _ -> foundNonMember = true;
          }
        } catch (ExecutionException silent) {
          // The process may still be starting.
        }
      }
      if (foundNonMember
          && System.nanoTime() - since > FORMING_DELAY.toNanos()
          && formingRight.take()) {
        return Optional.empty();
      }
      Thread.sleep(POLL_MILLIS);
    } while (System.nanoTime() < deadline);
    throw new ClusterJoinException(
        foundNonMember
            ? "within %d s none of %s was in a cluster: they are looking for it themselves. Start or resume a run: troupe train … --cluster"
                .formatted(patience.toSeconds(), seeds.all())
            : "no seed answered within %d s: %s. Is one of them running there, can this host reach it, and do both have the same cluster.tls settings?"
                .formatted(patience.toSeconds(), seeds.all()));
  }

  private static CompletableFuture<JoinGate.Reply> ask(
      ActorSystem<?> system, HostPort seed, ClusterIdentity identity, String who) {
    try {
      return AskPattern.<JoinGate.Command, JoinGate.Reply>ask(
              gateAt(system, seed),
              replyTo -> new JoinGate.RequestJoin(identity, who, replyTo),
              ANSWER,
              system.scheduler())
          .toCompletableFuture()
          // The timeout above ends with the actor system, which a signal may terminate at any time.
          .orTimeout(2 * ANSWER.toMillis(), TimeUnit.MILLISECONDS);
    } catch (IllegalStateException ending) { // The system's scheduler is closed.
      return CompletableFuture.failedFuture(ending);
    }
  }

  private static void requireAlive(ActorSystem<?> system) throws ClusterJoinException {
    if (system.getWhenTerminated().toCompletableFuture().isDone()) {
      throw new ClusterJoinException("this process was asked to end before it had joined");
    }
  }

  /** The join gate of a process, which need not be a member. */
  public static ActorRef<JoinGate.Command> gateAt(ActorSystem<?> system, HostPort at) {
    return ActorRefResolver.get(system)
        .resolveActorRef(
            "%s/user/%s"
                .formatted(ClusterSettings.addresses(List.of(at)).getFirst(), JoinGate.NAME));
  }
}
