package io.troupe.cli.node;

import akka.actor.typed.ActorSystem;
import io.troupe.aws.interruption.InterruptionNotice;
import io.troupe.aws.interruption.InterruptionWatch;
import io.troupe.base.build.BuildId;
import io.troupe.base.net.HostPort;
import io.troupe.base.process.Announcements;
import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.ParentWatch;
import io.troupe.base.process.Signals;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.InterruptionOption;
import io.troupe.cluster.ClusterJoin;
import io.troupe.cluster.ClusterJoin.ClusterJoinException;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.NodeAgent;
import io.troupe.cluster.NodeWeightStore;
import io.troupe.cluster.RunDescriptor;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.KnownMembers;
import io.troupe.cluster.membership.SeedNodes;
import io.troupe.cluster.membership.SystemAddress;
import io.troupe.config.ClusterSection;
import io.troupe.config.RunConfig;
import io.troupe.console.process.JvmReport;
import io.troupe.hosts.gpu.NodeGpus;
import io.troupe.hosts.placement.NodeAssignment;
import io.troupe.run.cluster.NodeProcessPlanner;
import io.troupe.run.compose.GpuOption;
import io.troupe.run.console.MachineGpus;
import io.troupe.run.console.ProcessProbe;
import io.troupe.weights.cache.WeightRef;
import io.troupe.weights.transfer.FetchOutcome;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe node}: makes this host work for the runs of a cluster. */
@Command(
    name = "node",
    description =
        "Makes this host work for a run on a cluster: starts its rollout workers, each a JVM of its"
            + " own, and keeps them alive.",
    footer = {
      "",
      "Examples:",
      "  troupe train conf/quickstart.yaml --cluster --port 7400",
      "  troupe node --seed 127.0.0.1:7400 --name a --workers 2",
      "  troupe node --seed 127.0.0.1:7400 --name b --workers 2 --roles node,coordinator",
      "",
      "SIGTERM or ^C drains: groups in flight finish, then the node leaves; a second one ends it at"
          + " once."
    })
public final class NodeCommand extends CliCommand {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** The time for which a node that was cut off tries to come back before it ends. */
  private static final Duration REJOIN_TIMEOUT = Duration.ofMinutes(10);

  /** The work that a node may do. */
  enum NodeRole {
    /** Rollout workers. */
    NODE,
    /** Also the coordinator's place, if the present one dies. */
    COORDINATOR
  }

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Takes its section cluster; everything else comes from the coordinator.")
  private @Nullable Path config;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Of this node, unique in the cluster; by default made of host and port.")
  private @Nullable String name;

  @Option(
      names = "--workers",
      paramLabel = "N",
      description =
          "Rollout workers here; by default what the run's placement says, or its"
              + " cluster.workers_per_node.")
  private @Nullable Integer workers;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Logs of this node's processes (${DEFAULT-VALUE}).")
  private Path data = Path.of("node-data");

  @Option(
      names = "--roles",
      split = ",",
      paramLabel = "ROLE",
      defaultValue = "node",
      description = "node; and coordinator, if this host may take over the run.")
  private Set<NodeRole> roles = Set.of(NodeRole.NODE);

  @Option(
      names = "--gpus",
      paramLabel = "auto|none|virtual:N|LIST",
      description =
          "Accelerators of this host, one for each worker. auto asks nvidia-smi where there is one;"
              + " LIST, such as 4-7 or 0,2, takes some of them; virtual:N pretends"
              + " (${DEFAULT-VALUE}).")
  private String gpus = "auto";

  @Option(
      names = "--until-complete",
      description =
          "Leave when the run is complete, with exit code 0. A signal, or a host that ends, makes"
              + " it 143 then: start the node again.")
  private boolean untilComplete;

  @Option(
      names = "--with-parent",
      hidden = true,
      description = "End with the process that holds the other end of standard input.")
  private boolean withParent;

  @Mixin private InterruptionOption interruptions = new InterruptionOption();

  @Mixin private ClusterOptions cluster = new ClusterOptions();

  private final AtomicReference<Optional<ActorSystem<NodeAgent.Command>>> current =
      new AtomicReference<>(Optional.empty());
  private final AtomicBoolean leaving = new AtomicBoolean();

  @Override
  public Integer call() throws Exception {
    var _ =
        Signals.install(
            _ -> leave(), number -> Runtime.getRuntime().halt(ExitCode.ofSignal(number)));
    if (withParent) {
      ParentWatch.start(this::leave);
    }
    Optional<ClusterSection> section =
        Optional.ofNullable(config).map(file -> RunConfig.load(file, List.of()).config().cluster());
    Optional<NodeGpus> owned = GpuOption.gpus(gpus, data.toAbsolutePath().resolve(nodeName()));
    KnownMembers known =
        KnownMembers.in(data.toAbsolutePath().resolve(nodeName()).resolve("members"));
    try (InterruptionWatch _ = interruptions.watch(this::say, this::leaveInTime)) {
      boolean left = leftWhileJoining(() -> serve(section, owned, known, false));
      while (!left && !leaving.get()) {
        say(
            "lost the cluster, ended its workers, joins again: knocks for %d minutes at all members it has met"
                .formatted(REJOIN_TIMEOUT.toMinutes()));
        left = leftWhileJoining(() -> rejoinUntilLeft(section, owned, known));
      }
    }
    return untilComplete && leaving.get() ? ExitCode.ofSignal(Signals.SIGTERM) : ExitCode.OK.code();
  }

  private interface Session {
    boolean live() throws IOException, ClusterJoinException, InterruptedException;
  }

  private boolean leftWhileJoining(Session life)
      throws IOException, ClusterJoinException, InterruptedException {
    try {
      return life.live();
    } catch (ClusterJoinException e) {
      if (leaving.get()) {
        return true; // It was ordered to end, and did.
      }
      throw e;
    }
  }

  /** A cut may last longer than one attempt to join. */
  private boolean rejoinUntilLeft(
      Optional<ClusterSection> section, Optional<NodeGpus> owned, KnownMembers known)
      throws IOException, ClusterJoinException, InterruptedException {
    long deadline = System.nanoTime() + REJOIN_TIMEOUT.toNanos();
    while (true) {
      try {
        return serve(section, owned, known, true);
      } catch (ClusterJoinException e) {
        long left = Duration.ofNanos(deadline - System.nanoTime()).toSeconds();
        if (e.refused() || leaving.get() || left <= 0) {
          throw e;
        }
        say(
            "%s; tries again, and ends in %d min %d s if no member admits it"
                .formatted(e.getMessage(), left / 60, left % 60));
      }
    }
  }

  /** Works until the node has left, which is true, or the cluster has lost it. */
  private boolean serve(
      Optional<ClusterSection> section, Optional<NodeGpus> owned, KnownMembers known, boolean again)
      throws IOException, ClusterJoinException, InterruptedException {
    ClusterIdentity pass =
        new ClusterIdentity(
            section.map(ClusterSection::name).orElse("troupe"), BuildId.ofThisProcess());
    ClusterSettings settings =
        cluster.settings(
            ClusterSettings.ClusterRole.NODE,
            ClusterSettings.MIN_FRAME_BYTES,
            section.map(ClusterSection::tls).orElse(""),
            this::say);
    AtomicBoolean left = new AtomicBoolean();
    CompletableFuture<NodeProcessPlanner> planner = new CompletableFuture<>();
    try (NodeWeightStore weightStore = new NodeWeightStore(nodeName(), cluster.weights());
        ChildProcesses children =
            owned.map(NodeGpus::ledger).map(ChildProcesses::new).orElseGet(ChildProcesses::new)) {
      ActorSystem<NodeAgent.Command> system =
          ActorSystem.create(
              NodeAgent.create(
                  new NodeAgent.Wiring(
                      nodeName(),
                      pass,
                      untilComplete ? NodeAgent.Until.RUN_COMPLETE : NodeAgent.Until.DRAINED,
                      known,
                      new LatePlanner(planner),
                      children,
                      () -> System.nanoTime() / 1_000_000,
                      section.map(ClusterSection::drainTimeout).orElse(PATIENCE),
                      ProcessProbe.ofNode(nodeName(), gpuMap(owned), this::leave),
                      this::say,
                      () -> left.set(true))),
              ClusterSettings.SYSTEM_NAME,
              settings.config());
      current.set(Optional.of(system));
      HostPort self = SystemAddress.address(system);
      planner.complete(
          new NodeProcessPlanner(
              nodeName(),
              Optional.ofNullable(workers),
              roles.contains(NodeRole.COORDINATOR),
              data.toAbsolutePath(),
              cluster.forChild(self),
              cluster.ranks().address().port(),
              owned,
              weightStore));
      try {
        join(system, self, pass, known, again);
        system.getWhenTerminated().toCompletableFuture().join();
        if (!left.get()) {
          say("was removed from the cluster, ends its workers");
        }
      } finally {
        system.terminate();
      }
    }
    return left.get();
  }

  /** The planner's children need the address that the actor system takes. */
  private record LatePlanner(CompletableFuture<NodeProcessPlanner> planner)
      implements NodeAgent.ProcessPlanner {
    @Override
    public NodeAgent.ProcessPlan plan(
        RunDescriptor terms, NodeAssignment share, BiConsumer<WeightRef, FetchOutcome> arrivals)
        throws IOException {
      return planner.join().plan(terms, share, arrivals);
    }

    @Override
    public void runEnded() {
      planner.join().runEnded();
    }
  }

  private void leave() {
    leave(new NodeAgent.Leave());
  }

  /** EC2 takes this host back: the node drains before. */
  private void leaveInTime(InterruptionNotice notice) {
    Instant now = Instant.now();
    leave(new NodeAgent.LeaveWithin(notice.text(now), notice.left(now)));
  }

  private void leave(NodeAgent.Command how) {
    leaving.set(true);
    current.get().ifPresent(system -> system.tell(how));
  }

  private static Supplier<List<JvmReport.GpuReport>> gpuMap(Optional<NodeGpus> owned) {
    return owned
        .<Supplier<List<JvmReport.GpuReport>>>map(
            gpus -> new MachineGpus(gpus.probe(), gpus::occupants, gpus.assignments()::byUuid))
        .orElse(List::of);
  }

  private void join(
      ActorSystem<NodeAgent.Command> system,
      HostPort self,
      ClusterIdentity pass,
      KnownMembers known,
      boolean again)
      throws ClusterJoinException, InterruptedException {
    if (cluster.seeds().isEmpty() && !again) {
      ClusterJoin.form(system);
    } else {
      List<HostPort> others = known.all().stream().filter(one -> !one.equals(self)).toList();
      if (cluster.seeds().isEmpty() && others.isEmpty()) {
        throw new ClusterJoinException(
            "this node began the cluster, was cut off from it and knows no other member; start it"
                + " again with --seed");
      }
      ClusterJoin.joinVia(
          system,
          new SeedNodes(cluster.seeds(), others),
          pass,
          "node %s at %s".formatted(nodeName(), self),
          PATIENCE);
    }
    say("%s %s at %s".formatted(Announcements.AGENT_READY, pass.cluster(), self));
    say("drain   troupe drain-node %s --seed %s".formatted(nodeName(), self));
  }

  private String nodeName() {
    HostPort own = cluster.address();
    return Optional.ofNullable(name)
        .orElseGet(() -> own.host() + "-" + ProcessHandle.current().pid());
  }

  private void say(String sentence) {
    System.err.println("node " + nodeName() + " · " + sentence);
  }
}
