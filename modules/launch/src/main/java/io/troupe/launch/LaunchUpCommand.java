package io.troupe.launch;

import io.troupe.base.net.HostPort;
import io.troupe.base.process.Announcements;
import io.troupe.base.process.ExitCode;
import io.troupe.config.PlacementSection;
import io.troupe.config.RunConfig;
import io.troupe.launch.remote.Bundle;
import io.troupe.launch.remote.HostFacts;
import io.troupe.launch.remote.KeyFolders;
import io.troupe.launch.remote.RemoteHost;
import io.troupe.launch.remote.RemoteHosts;
import io.troupe.net.tls.PlainTcpRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe launch up}: checks hosts, copies the build, starts agents and the run. */
@Command(
    name = "up",
    mixinStandardHelpOptions = true,
    description = {
      "Checks every host (ssh, JDK, clock, disk, ports, agents left), copies this build, starts the"
          + " run on the first host and an agent on each, and follows the run.",
      "^C detaches; the run continues."
    })
final class LaunchUpCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;
  @Mixin private LaunchOptions options = new LaunchOptions();

  @Parameters(index = "0", paramLabel = "FILE", description = "Configuration of the run.")
  private Path file = Path.of("run.yaml");

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "The coordinator listens there, the agents at the next one (${DEFAULT-VALUE}).")
  private int port = 7400;

  @Option(
      names = "--weights-port",
      paramLabel = "N",
      description =
          "The coordinator serves weights there, the agents at the next one (${DEFAULT-VALUE}).")
  private int weightsPort = 7410;

  @Option(
      names = "--ranks-port",
      paramLabel = "N",
      description =
          "With placement.ranks_as: nodes, trainer ranks report to the coordinator there, and"
              + " listen at the next ones of their hosts (${DEFAULT-VALUE}).")
  private int ranksPort = 7420;

  @Option(
      names = "--tls",
      paramLabel = "DIR",
      description =
          "Keys that `troupe certs` made, DIR/hosts/NAME for each host: copied there, and used for"
              + " all connections.")
  private @Nullable Path authority;

  @Option(
      names = "--allow-plain-tcp",
      description = "Without TLS: only in a network that nobody else is in.")
  private boolean plain;

  @Option(
      names = "--build",
      paramLabel = "DIR",
      description = "A folder with bin/ and lib/ to copy instead of this program.")
  private @Nullable Path build;

  @Option(names = "--detach", description = "Does not follow the run.")
  private boolean detach;

  @Override
  public Integer call() throws IOException, InterruptedException {
    LaunchReport report = options.report();
    HostRunner reach = new HostRunner(report);
    try (RemoteHosts fleet = options.fleet(report)) {
      try {
        start(fleet, reach, report);
      } catch (RemoteHosts.NotReadyException notReady) {
        List<String> problems = String.valueOf(notReady.getMessage()).lines().toList();
        problems.forEach(report::fail);
        report.put("problems", problems);
        Objects.requireNonNull(spec).commandLine().getErr().println("nothing was started");
        return report.end(ExitCode.UNREACHABLE);
      }
      if (options.dryRun) {
        return report.end(ExitCode.OK);
      }
      report.say("status  " + options.command("status"));
      report.say("stop    " + options.command("stop"));
      if (detach || report.isJson() || reach.exit() != ExitCode.OK) {
        return report.end(reach.exit());
      }
      report.say("following the run; ^C detaches");
      return new LogFollower(fleet, options, report).run();
    }
  }

  private void start(RemoteHosts fleet, HostRunner reach, LaunchReport report)
      throws RemoteHosts.NotReadyException, IOException, InterruptedException {
    RunConfig config = RunConfig.load(file, List.of()).config();
    LaunchPlan plan = plan(config, fleet.hosts());
    Optional<KeyFolders> keys =
        authority == null
            ? Optional.empty()
            : Optional.of(KeyFolders.in(authority, fleet.hosts(), Instant.now()));
    var facts = fleet.check(plan.ports());
    if (options.dryRun) {
      Bundle.use(
          Optional.ofNullable(build), bundle -> preview(fleet, plan, keys, facts, bundle, report));
      return;
    }
    Bundle.use(Optional.ofNullable(build), bundle -> fleet.copy(bundle, facts));
    if (keys.isPresent()) {
      for (RemoteHost host : fleet.hosts()) {
        fleet.copyKeys(keys.get(), host);
      }
    }
    RemoteHost coordinator = fleet.hosts().getFirst();
    fleet.write(LaunchPlan.CONFIG, Files.readString(file));
    fleet.start(coordinator, LaunchCommand.RUN, java(facts, coordinator), plan.train(coordinator));
    report.put(coordinator, LaunchCommand.RUN, plan.train(coordinator));
    for (RemoteHost host : fleet.hosts()) {
      reach.run(
          host,
          () -> {
            fleet.start(
                host, LaunchCommand.AGENT, java(facts, host), plan.agent(host, coordinator));
            report.put(host, LaunchCommand.AGENT, plan.agent(host, coordinator));
            return true;
          });
    }
    for (RemoteHost host : fleet.hosts()) {
      if (reach.run(host, () -> up(fleet, host))) {
        report.say(host, "agent is up");
        report.put(host, "agent_up", true);
      }
    }
  }

  /** Says what a launch would copy, delete and start. */
  private static void preview(
      RemoteHosts fleet,
      LaunchPlan plan,
      Optional<KeyFolders> keys,
      Map<RemoteHost, HostFacts> facts,
      Bundle bundle,
      LaunchReport report) {
    RemoteHost coordinator = fleet.hosts().getFirst();
    for (RemoteHost host : fleet.hosts()) {
      String there = Objects.requireNonNull(facts.get(host)).build();
      boolean copies = !there.equals(bundle.digest());
      boolean deletes = copies && !there.isEmpty();
      report.put(host, "copies_build", copies);
      report.put(host, "deletes_build", deletes ? there : "");
      if (copies) {
        report.say(
            host,
            "would copy %s%s"
                .formatted(
                    Bundle.name(bundle.digest()),
                    deletes ? ", and delete " + Bundle.name(there) : ""));
      }
      if (keys.isPresent()) {
        report.say(host, "would copy keys of " + keys.get().of(host));
        report.put(host, "copies_keys", keys.get().of(host).toString());
      }
      if (host.equals(coordinator)) {
        report.say(host, "would start troupe " + String.join(" ", plan.train(host)));
        report.put(host, LaunchCommand.RUN, plan.train(host));
      }
      report.say(host, "would start troupe " + String.join(" ", plan.agent(host, coordinator)));
      report.put(host, LaunchCommand.AGENT, plan.agent(host, coordinator));
    }
  }

  private static boolean up(RemoteHosts fleet, RemoteHost host)
      throws IOException, InterruptedException {
    fleet.await(host, LaunchCommand.AGENT, Announcements.AGENT_READY);
    return true;
  }

  private LaunchPlan plan(RunConfig config, List<RemoteHost> hosts)
      throws RemoteHosts.NotReadyException {
    PlacementSection placement = config.placement();
    int ranks =
        placement.ranksOnNodes() ? Math.min(placement.trainerRanks(), placement.gpusPerNode()) : 0;
    boolean tls = authority != null || !config.cluster().tls().isEmpty();
    List<String> objections =
        hosts.stream()
            .flatMap(
                host ->
                    PlainTcpRule.objection(new HostPort(host.address(), port), tls, plain).stream())
            .toList();
    if (!objections.isEmpty()) {
      throw new RemoteHosts.NotReadyException(objections);
    }
    return new LaunchPlan(port, weightsPort, ranksPort, ranks, authority != null, plain);
  }

  private static String java(Map<RemoteHost, HostFacts> facts, RemoteHost host) {
    return Objects.requireNonNull(facts.get(host)).java();
  }
}
