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
 * Makes a process a member of a cluster, after a handshake that refuses strangers in words: the
 * cluster's own check would leave both sides with a guess.
 */
public final class ClusterJoin {
  private static final Duration ANSWER = Duration.ofSeconds(2);

  /** How long all must have been looking for the cluster before one may begin another. */
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

    /** Whether a seed has said no: to ask again is of no use. */
    public boolean refused() {
      return refused;
    }
  }

  /** Begins a cluster of which this process is the first member. */
  public static void form(ActorSystem<?> system) {
    Cluster cluster = Cluster.get(system);
    cluster.manager().tell(Join.create(cluster.selfMember().address()));
  }

  /**
   * Joins the cluster of the first seed that lets it in. Blocks until this process is a member.
   *
   * @param who asks, for the log of the other side
   * @param patience how long seeds may take to answer, and then the cluster to let it in
   */
  public static void joinVia(
      ActorSystem<?> system, SeedNodes seeds, ClusterIdentity pass, String who, Duration patience)
      throws ClusterJoinException, InterruptedException {
    try {
      joinOrForm(system, seeds, pass, who, patience, () -> false);
    } catch (IOException never) {
      throw new UncheckedIOException(never);
    }
  }

  /** The right to begin a cluster. */
  public interface FormingRight {
    /**
     * Takes it, if it is to be had.
     *
     * @throws IOException if that cannot be found out
     */
    boolean take() throws IOException;
  }

  /**
   * The same for one that may begin a cluster where all it reaches look for one themselves, as they
   * do after the loss of all that could be head: somebody has to be the first.
   */
  public static void joinOrForm(
      ActorSystem<?> system,
      SeedNodes seeds,
      ClusterIdentity pass,
      String who,
      Duration patience,
      FormingRight mayBegin)
      throws ClusterJoinException, InterruptedException, IOException {
    long deadline = System.nanoTime() + patience.toNanos();
    Optional<HostPort> open =
        findOpenMember(system, seeds, pass, who, deadline, patience, mayBegin);
    if (open.isEmpty()) {
      form(system);
    } else {
      awaitMembership(system, open.get(), deadline, patience);
    }
  }

  private static void awaitMembership(
      ActorSystem<?> system, HostPort open, long deadline, Duration patience)
      throws ClusterJoinException, InterruptedException {
    List<Address> addresses =
        ClusterSettings.addresses(List.of(open)).stream().map(AddressFromURIString::parse).toList();
    Cluster cluster = Cluster.get(system);
    cluster.manager().tell(new JoinSeedNodes(addresses));
    while (!cluster.selfMember().status().equals(MemberStatus.up())) {
      requireAlive(system);
      if (System.nanoTime() > deadline) {
        throw new ClusterJoinException(
            "%s answers, but the cluster did not let this process in within %d s: it may be waiting for a process that"
                    .formatted(open, patience.toSeconds())
                + " has just died; try again");
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  /** Knocks everywhere at once: the dead among many seeds must not hold up the living. */
  private static Optional<HostPort> findOpenMember(
      ActorSystem<?> system,
      SeedNodes seeds,
      ClusterIdentity pass,
      String who,
      long deadline,
      Duration patience,
      FormingRight mayBegin)
      throws ClusterJoinException, InterruptedException, IOException {
    boolean outside = false;
    long since = System.nanoTime();
    do {
      requireAlive(system);
      Map<HostPort, CompletableFuture<JoinGate.Reply>> asked = new LinkedHashMap<>();
      seeds.all().forEach(seed -> asked.put(seed, ask(system, seed, pass, who)));
      for (Map.Entry<HostPort, CompletableFuture<JoinGate.Reply>> one : asked.entrySet()) {
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
            case JoinGate.NotAMember _ -> outside = true;
          }
        } catch (ExecutionException silent) {
          // It may still be starting.
        }
      }
      if (outside && System.nanoTime() - since > FORMING_DELAY.toNanos() && mayBegin.take()) {
        return Optional.empty();
      }
      Thread.sleep(POLL_MILLIS);
    } while (System.nanoTime() < deadline);
    throw new ClusterJoinException(
        outside
            ? "within %d s nobody of %s was in a cluster: they look for it themselves. Start or resume a run: troupe train … --cluster"
                .formatted(patience.toSeconds(), seeds.all())
            : "no seed answered within %d s: %s. Is one of them running there, can this host reach it, and do both have the same cluster.tls settings?"
                .formatted(patience.toSeconds(), seeds.all()));
  }

  private static CompletableFuture<JoinGate.Reply> ask(
      ActorSystem<?> system, HostPort seed, ClusterIdentity pass, String who) {
    try {
      return AskPattern.<JoinGate.Command, JoinGate.Reply>ask(
              gateAt(system, seed),
              replyTo -> new JoinGate.RequestJoin(pass, who, replyTo),
              ANSWER,
              system.scheduler())
          .toCompletableFuture()
          // The limit above goes with the actor system, which a signal may end at any moment.
          .orTimeout(2 * ANSWER.toMillis(), TimeUnit.MILLISECONDS);
    } catch (IllegalStateException ending) { // its scheduler is closed already
      return CompletableFuture.failedFuture(ending);
    }
  }

  private static void requireAlive(ActorSystem<?> system) throws ClusterJoinException {
    if (system.getWhenTerminated().toCompletableFuture().isDone()) {
      throw new ClusterJoinException("this process was told to end before it had joined");
    }
  }

  /** The gate of a process, member or not. */
  public static ActorRef<JoinGate.Command> gateAt(ActorSystem<?> system, HostPort at) {
    return ActorRefResolver.get(system)
        .resolveActorRef(
            "%s/user/%s"
                .formatted(ClusterSettings.addresses(List.of(at)).getFirst(), JoinGate.NAME));
  }
}
