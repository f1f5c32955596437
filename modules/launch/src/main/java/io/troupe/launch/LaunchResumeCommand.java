package io.troupe.launch;

import io.troupe.base.process.Announcements;
import io.troupe.launch.remote.KeyFolders;
import io.troupe.launch.remote.RemoteHost;
import io.troupe.launch.remote.RemoteHosts;
import io.troupe.launch.remote.RemoteProcessState;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe launch resume}: a launched run that ended continues, on the same hosts. */
@Command(
    name = "resume",
    mixinStandardHelpOptions = true,
    description = {
      "Continues a run that has ended on the first host, through the agents that are there, and"
          + " starts the agents that are not. A host that cannot be reached is named and left out.",
      "^C detaches; the run continues."
    })
final class LaunchResumeCommand implements Callable<Integer> {
  @Mixin private LaunchOptions options = new LaunchOptions();

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "RUN",
      description = "Name of a run on the first host; without one, the newest there.")
  private String run = "";

  @Option(
      names = "--tls",
      paramLabel = "DIR",
      description =
          "Of a run that was launched with it: copies the hosts' keys there again, which `stop` has"
              + " removed.")
  private @Nullable Path authority;

  @Option(names = "--detach", description = "Does not follow the run.")
  private boolean detach;

  @Override
  public Integer call() throws IOException, InterruptedException {
    LaunchReport report = options.report();
    try (RemoteHosts fleet = options.fleet(report)) {
      RemoteHost coordinator = fleet.hosts().getFirst();
      RemoteHosts.Started started =
          fleet
              .started(coordinator, LaunchCommand.RUN)
              .orElseThrow(
                  () -> new IOException(coordinator.login() + ": no run was launched there"));
      if (fleet.fate(coordinator, LaunchCommand.RUN) instanceof RemoteProcessState.Running) {
        throw new IOException(
            "%s: the run continues there; %s"
                .formatted(coordinator.login(), options.command("logs --follow")));
      }
      String name = run.isEmpty() ? newest(fleet, coordinator) : run;
      report.say(coordinator, (options.dryRun ? "would resume " : "resumes ") + name);
      report.put("run", name);
      HostRunner reach = new HostRunner(report);
      keys(fleet, reach, started, report);
      startAgents(fleet, reach, started, name, report);
      for (RemoteHost host : fleet.hosts()) {
        if (reach.hasFailed(host)) {
          report.say(host, "is left out; when it is back:");
          report.say("restart " + options.command("restart-node " + host.address()));
        }
      }
      return detach || options.dryRun || report.isJson()
          ? report.end(reach.exit())
          : new LogFollower(fleet, options, report).run();
    }
  }

  /** Copies the keys of the hosts that can be reached; the others are left out anyway. */
  private void keys(
      RemoteHosts fleet, HostRunner reach, RemoteHosts.Started before, LaunchReport report)
      throws IOException, InterruptedException {
    RemoteHost coordinator = fleet.hosts().getFirst();
    if (!before.arguments().contains("--tls")) {
      if (authority != null) {
        throw new IOException(
            "%s: the run was launched without --tls, and its processes would not read the keys; resume it without --tls"
                .formatted(coordinator.login()));
      }
      return;
    }
    if (authority == null) {
      List<String> without = new ArrayList<>();
      for (RemoteHost host : fleet.hosts()) {
        reach.run(host, () -> fleet.hasKeys(host) || without.add(host.login()));
      }
      if (!without.isEmpty()) {
        throw new IOException(
            "%s: the keys are gone, as `troupe launch stop` leaves it; pass --tls DIR, the folder of `troupe certs`"
                .formatted(String.join(", ", without)));
      }
      return;
    }
    try {
      KeyFolders keys = KeyFolders.in(authority, fleet.hosts(), Instant.now());
      for (RemoteHost host : fleet.hosts()) {
        reach.run(
            host,
            () -> {
              if (options.dryRun) {
                report.say(host, "would copy keys of " + keys.of(host));
              } else {
                fleet.copyKeys(keys, host);
              }
              return true;
            });
      }
      if (reach.hasFailed(coordinator)) {
        throw new IOException(
            coordinator.login() + ": without its keys the run cannot start; nothing was");
      }
    } catch (RemoteHosts.NotReadyException unfit) {
      throw new IOException(unfit.getMessage(), unfit);
    }
  }

  private static String newest(RemoteHosts fleet, RemoteHost coordinator)
      throws IOException, InterruptedException {
    return fleet
        .newestRun(coordinator)
        .orElseThrow(() -> new IOException(coordinator.login() + ": there is no run to continue"));
  }

  /**
   * Agents that live are a cluster already, so the coordinator comes to them; others come to the
   * coordinator. A run may have ended because a host went down, so it continues those that are
   * left.
   */
  private void startAgents(
      RemoteHosts fleet,
      HostRunner reach,
      RemoteHosts.Started before,
      String run,
      LaunchReport report)
      throws IOException, InterruptedException {
    List<RemoteHost> missing = new ArrayList<>();
    List<String> seeds = new ArrayList<>();
    for (RemoteHost host : fleet.hosts()) {
      boolean lives =
          reach.run(
              host,
              () -> fleet.fate(host, LaunchCommand.AGENT) instanceof RemoteProcessState.Running);
      report.put(host, "agent_lives", lives);
      if (lives) {
        reach.run(host, () -> seeds.add(host.address() + ":" + agentPort(fleet, host)));
      } else {
        missing.add(host);
      }
    }
    RemoteHost coordinator = fleet.hosts().getFirst();
    List<String> words = arguments(before.arguments(), run, seeds);
    report.put(coordinator, LaunchCommand.RUN, words);
    if (options.dryRun) {
      report.say(coordinator, "would start troupe " + String.join(" ", words));
      missing.stream()
          .filter(host -> !reach.hasFailed(host))
          .forEach(host -> report.say(host, "would start its agent again"));
      return;
    }
    fleet.start(coordinator, LaunchCommand.RUN, before.java(), words);
    for (RemoteHost host : missing) {
      reach.run(
          host,
          () -> {
            fleet.again(host, LaunchCommand.AGENT);
            fleet.await(host, LaunchCommand.AGENT, Announcements.AGENT_READY);
            return fleet.status(host, LaunchCommand.AGENT).alive();
          });
    }
  }

  private static String agentPort(RemoteHosts fleet, RemoteHost host)
      throws IOException, InterruptedException {
    List<String> arguments =
        fleet
            .started(host, LaunchCommand.AGENT)
            .map(RemoteHosts.Started::arguments)
            .orElse(List.of());
    int option = arguments.indexOf("--port");
    if (option < 0) {
      throw new IOException(host.login() + ": its agent was not launched by this program");
    }
    return arguments.get(option + 1);
  }

  /** {@code train FILE OPTIONS} or {@code train --resume RUN OPTIONS} of before, as it is now. */
  static List<String> arguments(List<String> before, String run, List<String> seeds) {
    List<String> now = new ArrayList<>(List.of("train", "--resume", run));
    int options = before.indexOf("--cluster");
    List<String> kept = before.subList(options, before.size());
    for (int i = 0; i < kept.size(); i++) {
      if (kept.get(i).equals("--seed")) {
        i++;
      } else {
        now.add(kept.get(i));
      }
    }
    seeds.forEach(seed -> now.addAll(List.of("--seed", seed)));
    return now;
  }
}
