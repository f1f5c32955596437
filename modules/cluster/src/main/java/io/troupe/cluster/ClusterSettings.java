package io.troupe.cluster;

import static io.troupe.core.Require.require;

import akka.actor.BootstrapSetup;
import akka.actor.setup.ActorSystemSetup;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.split.LeaseSetup;
import io.troupe.cluster.tls.TlsTransport;
import io.troupe.runtime.Run;
import io.troupe.store.folder.RunLease;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * What one process tells its actor system about the cluster.
 *
 * @param address where it listens
 * @param roles of this process
 * @param frameBytes of the largest message; all processes of a run need the same
 * @param transport settings that make connections secret and mutual; empty for plain TCP
 * @param plainAllowed whether there may be none; then whoever reaches the port may join
 */
public record ClusterSettings(
    HostPort address,
    Set<ClusterRole> roles,
    int frameBytes,
    Config transport,
    boolean plainAllowed) {
  /** What a process may be in the cluster. */
  public enum ClusterRole {
    /** The head of a run, or one that waits to become it. */
    COORDINATOR("coordinator"),
    /** A node agent. */
    NODE("node"),
    /** A rollout worker. */
    ROLLOUT("rollout");

    private final String akkaName;

    ClusterRole(String akkaName) {
      this.akkaName = akkaName;
    }

    /** As members of the cluster carry it. */
    String akkaName() {
      return akkaName;
    }
  }

  /**
   * The name of all actor systems; which cluster it is stands in the {@link
   * io.troupe.cluster.membership.ClusterIdentity}.
   */
  public static final String SYSTEM_NAME = "troupe";

  /** Enough for groups of any quickstart. */
  public static final int MIN_FRAME_BYTES = 8 << 20;

  /**
   * Actors that get token arrays and whole groups. These go on a lane of their own, so that they do
   * not hold up leases and heartbeats; on the other lane a large message would be lost.
   */
  static final List<String> LARGE_MESSAGE_DESTINATIONS =
      List.of(
          CoordinatorGuardian.path(Run.TRAINER),
          CoordinatorGuardian.path(Run.RECORDER),
          WorkerHost.WORKER_PATHS);

  public ClusterSettings {
    roles = Set.copyOf(roles);
    require(!roles.isEmpty(), "a process of a cluster has a role");
    require(
        frameBytes >= MIN_FRAME_BYTES,
        "the largest message is at least %d bytes, not %d",
        MIN_FRAME_BYTES,
        frameBytes);
    require(
        !transport.isEmpty() || plainAllowed,
        "a process that listens at %s knows its peers by their keys",
        address);
  }

  /**
   * Whole days until the certificate of this process ends, negative once it has; empty where there
   * is none, or it cannot be read.
   */
  public OptionalLong certificateDays(Instant now) {
    return transport.isEmpty() ? OptionalLong.empty() : TlsTransport.daysLeft(transport, now);
  }

  /** The actor system's configuration. */
  public Config config() {
    Map<String, Object> own = new LinkedHashMap<>();
    own.put("akka.remote.artery.canonical.hostname", address.uriHost());
    own.put("akka.remote.artery.canonical.port", address.port());
    own.put("akka.remote.artery.advanced.maximum-large-frame-size", frameBytes + "b");
    own.put("akka.remote.artery.large-message-destinations", LARGE_MESSAGE_DESTINATIONS);
    own.put("akka.cluster.roles", roles.stream().map(role -> role.akkaName).sorted().toList());
    return ConfigFactory.load(
        transport
            .withFallback(ConfigFactory.parseMap(own))
            .withFallback(ConfigFactory.parseResources("troupe-cluster.conf")));
  }

  /**
   * The actor system's setup in a process that may be head of the run of this lease.
   *
   * @param more adds to its configuration
   */
  public ActorSystemSetup setup(RunLease lease, UnaryOperator<Config> more) {
    return ActorSystemSetup.create(
        BootstrapSetup.create(more.apply(config())), new LeaseSetup(lease));
  }

  /** Where processes listen that were told of these seeds. */
  static List<String> addresses(List<HostPort> seeds) {
    return seeds.stream().map(seed -> "akka://%s@%s".formatted(SYSTEM_NAME, seed)).toList();
  }
}
