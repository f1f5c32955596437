package io.troupe.cluster;

import static io.troupe.core.Require.require;

import akka.actor.BootstrapSetup;
import akka.actor.setup.ActorSystemSetup;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.evaluation.EvaluationClient;
import io.troupe.cluster.split.LeaseSetup;
import io.troupe.cluster.tls.TlsTransport;
import io.troupe.runtime.Run;
import io.troupe.runtime.evaluation.EvaluationSampler;
import io.troupe.store.folder.RunLease;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The cluster settings of one process's actor system.
 *
 * @param address address at which the process listens
 * @param roles of this process
 * @param frameBytes size of the largest message, equal in all processes of a run
 * @param transport settings for mutual TLS; empty for plain TCP
 * @param plainAllowed whether {@code transport} may be empty; then every process that reaches the
 *     port may join
 */
public record ClusterSettings(
    HostPort address,
    Set<ClusterRole> roles,
    int frameBytes,
    Config transport,
    boolean plainAllowed) {
  /** The role of a process in the cluster. */
  public enum ClusterRole {
    /** The coordinator of a run, or a standby. */
    COORDINATOR("coordinator"),
    /** A node agent. */
    NODE("node"),
    /** A rollout worker. */
    ROLLOUT("rollout"),
    /** An evaluation that workers sample for. */
    EVALUATION("evaluation");

    private final String akkaName;

    ClusterRole(String akkaName) {
      this.akkaName = akkaName;
    }

    /** The role's name in Akka. */
    String akkaName() {
      return akkaName;
    }
  }

  /**
   * The name of all actor systems. The {@link io.troupe.cluster.membership.ClusterIdentity} says
   * which cluster one belongs to.
   */
  public static final String SYSTEM_NAME = "troupe";

  /** Large enough for the groups of every quickstart. */
  public static final int MIN_FRAME_BYTES = 8 << 20;

  /**
   * Actors that receive token arrays and whole groups. Artery sends these on a lane of their own,
   * so that they do not delay leases and heartbeats; on the ordinary lane a large message would be
   * dropped.
   */
  static final List<String> LARGE_MESSAGE_DESTINATIONS =
      List.of(
          CoordinatorGuardian.path(Run.TRAINER),
          CoordinatorGuardian.path(Run.RECORDER),
          WorkerHost.WORKER_PATHS,
          "/user/" + EvaluationSampler.NAME,
          EvaluationClient.REPLY_PATHS);

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
   * The setup of the actor system of a process that may coordinate the run of this lease.
   *
   * @param more adds settings to the configuration
   */
  public ActorSystemSetup setup(RunLease lease, UnaryOperator<Config> more) {
    return ActorSystemSetup.create(
        BootstrapSetup.create(more.apply(config())), new LeaseSetup(lease));
  }

  /** The Akka addresses of seeds. */
  static List<String> addresses(List<HostPort> seeds) {
    return seeds.stream().map(seed -> "akka://%s@%s".formatted(SYSTEM_NAME, seed)).toList();
  }
}
