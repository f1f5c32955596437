package io.troupe.launch;

import io.troupe.base.process.Announcements;
import io.troupe.base.process.ExitCode;
import io.troupe.launch.remote.Bundle;
import io.troupe.launch.remote.RemoteHost;
import io.troupe.launch.remote.RemoteHosts;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe launch}: a run on many hosts, over ssh. */
@Command(
    name = "launch",
    description = "Starts a run on many hosts over ssh or Slurm, and looks after it.",
    subcommands = {LaunchUpCommand.class, LaunchResumeCommand.class, LaunchSlurmCommand.class},
    footer = {
      "",
      "Examples:",
      "  troupe launch up conf/16-gpu.yaml --hosts hosts.txt",
      "  troupe launch status --hosts hosts.txt",
      "  troupe launch logs --follow --hosts hosts.txt",
      "  troupe launch logs node2 --hosts hosts.txt",
      "  troupe launch resume --hosts hosts.txt",
      "  troupe launch stop --hosts hosts.txt"
    })
public final class LaunchCommand extends CommandGroup {
  public static final String RUN = "run";
  public static final String AGENT = "agent";

  @Command(
      name = "stop",
      mixinStandardHelpOptions = true,
      description = {
        "Drains the run and then the agents (SIGTERM), waits for them, and removes the keys that"
            + " `up --tls` put on the hosts.",
        "Exit code 3 if a host cannot be reached; the others are stopped."
      })
  int stop(@Mixin LaunchOptions options) throws IOException, InterruptedException {
    LaunchReport report = options.report();
    HostRunner reach = new HostRunner(report);
    try (RemoteHosts fleet = options.fleet(report)) {
      List<HostedProcess> processes = processes(fleet);
      for (HostedProcess each : processes) {
        reach.run(
            each.host(),
            () -> {
              report.put(
                  each.host(),
                  each.name(),
                  options.dryRun
                      ? wouldStop(fleet, each, report)
                      : fleet.stop(each.host(), each.name()));
              return true;
            });
      }
      for (RemoteHost host : fleet.hosts()) {
        reach.run(
            host,
            () -> {
              if (!options.dryRun) {
                fleet.removeKeys(host, List.of(RUN, AGENT));
              } else if (fleet.hasCopiedKeys(host)) {
                report.say(host, "would delete its keys");
                report.put(host, "deletes_keys", true);
              }
              return true;
            });
      }
    }
    return report.end(reach.exit());
  }

  /** A process of a launch, by its name, and where it is. */
  private record HostedProcess(RemoteHost host, String name) {}

  /** The run, and then the agents. */
  private static List<HostedProcess> processes(RemoteHosts fleet) {
    List<HostedProcess> all = new ArrayList<>();
    all.add(new HostedProcess(fleet.hosts().getFirst(), RUN));
    fleet.hosts().forEach(host -> all.add(new HostedProcess(host, AGENT)));
    return all;
  }

  private static String wouldStop(RemoteHosts fleet, HostedProcess each, LaunchReport report)
      throws IOException, InterruptedException {
    RemoteHosts.ProcessStatus status = fleet.status(each.host(), each.name());
    if (status.alive()) {
      report.say(each.host(), "would end " + each.name());
    }
    return status.alive() ? "would end" : status.text();
  }

  @Command(
      name = "status",
      mixinStandardHelpOptions = true,
      description =
          "Says what runs where. Exit code 3 if an agent or the run does not, or if a host cannot"
              + " be reached.")
  int status(@Mixin LaunchOptions options) throws IOException, InterruptedException {
    LaunchReport report = options.report();
    HostRunner reach = new HostRunner(report);
    boolean up = true;
    try (RemoteHosts fleet = options.fleet(report)) {
      for (HostedProcess each : processes(fleet)) {
        up &= reach.run(each.host(), () -> status(fleet, each, report));
      }
    }
    return report.end(up ? ExitCode.OK : ExitCode.UNREACHABLE);
  }

  private static boolean status(RemoteHosts fleet, HostedProcess each, LaunchReport report)
      throws IOException, InterruptedException {
    RemoteHosts.ProcessStatus status = fleet.status(each.host(), each.name());
    report.put(each.host(), each.name(), Map.of("alive", status.alive(), "text", status.text()));
    return status.alive();
  }

  @Command(
      name = "logs",
      mixinStandardHelpOptions = true,
      description = "Shows the log of a host's agent, or of the run.")
  int logs(
      @Mixin LaunchOptions options,
      @Parameters(
              index = "0",
              arity = "0..1",
              paramLabel = "HOST",
              defaultValue = "",
              description = "Address of a host; without one, the run.")
          String address,
      @Option(
              names = "--follow",
              description = "Continues until it ends; ^C ends the following only.")
          boolean follow)
      throws IOException, InterruptedException {
    LaunchReport report = options.report();
    if (follow && report.isJson()) {
      throw bad("--json shows what a log has by now; give it without --follow");
    }
    try (RemoteHosts fleet = options.fleet(report)) {
      RemoteHost host = address.isEmpty() ? fleet.hosts().getFirst() : find(fleet, address);
      if (follow) {
        LogFollower following = new LogFollower(fleet, options, report);
        return address.isEmpty() ? following.run() : following.agent(host);
      }
      String name = address.isEmpty() ? RUN : AGENT;
      HostRunner reach = new HostRunner(report);
      reach.run(
          host,
          () -> {
            report.show(host, name, fleet.log(host, name));
            return true;
          });
      return report.end(reach.exit());
    }
  }

  @Command(
      name = "restart-node",
      mixinStandardHelpOptions = true,
      description = "Drains the agent of a host and starts it again with what it was started with.")
  int restartNode(
      @Mixin LaunchOptions options,
      @Parameters(index = "0", paramLabel = "HOST", description = "Address of a host.")
          String address)
      throws IOException, InterruptedException {
    LaunchReport report = options.report();
    try (RemoteHosts fleet = options.fleet(report)) {
      RemoteHost host = find(fleet, address);
      if (options.dryRun) {
        List<String> arguments =
            fleet
                .started(host, AGENT)
                .map(RemoteHosts.Started::arguments)
                .orElseThrow(() -> new IOException(host.login() + ": no agent was launched there"));
        report.put(host, AGENT, wouldStop(fleet, new HostedProcess(host, AGENT), report));
        report.say(host, "would start troupe " + String.join(" ", arguments));
        report.put(host, "starts", arguments);
        return report.end(ExitCode.OK);
      }
      fleet.stop(host, AGENT);
      fleet.again(host, AGENT);
      fleet.await(host, AGENT, Announcements.AGENT_READY);
      boolean up = status(fleet, new HostedProcess(host, AGENT), report);
      return report.end(up ? ExitCode.OK : ExitCode.UNREACHABLE);
    }
  }

  @Command(
      name = "bundle",
      mixinStandardHelpOptions = true,
      description = "Puts this build into a folder that needs nothing but a JDK, for an image.")
  int bundle(
      @Parameters(index = "0", paramLabel = "DIR", description = "A new folder.") Path folder,
      @Option(names = "--dry-run", description = "Say what it would hold; make nothing.")
          boolean dryRun,
      @Option(names = "--json", description = "One JSON object on standard output.") boolean json)
      throws IOException, InterruptedException {
    PrintWriter out = commandLine().getOut();
    if (dryRun) {
      Bundle.use(Optional.empty(), made -> answer(out, json, "would be made", folder, made));
    } else {
      answer(out, json, "made", folder, Bundle.ofThisProcess(folder));
    }
    return ExitCode.OK.code();
  }

  private static void answer(PrintWriter out, boolean json, String verb, Path folder, Bundle bundle)
      throws IOException {
    out.println(
        json
            ? StoreJson.LINE.writeValueAsString(
                Map.of(
                    "folder",
                    folder.toString(),
                    "build",
                    bundle.digest(),
                    "made",
                    verb.equals("made")))
            : "%-7s %s · %s".formatted(verb, folder, Bundle.name(bundle.digest())));
    out.flush();
  }

  private RemoteHost find(RemoteHosts fleet, String address) {
    List<RemoteHost> found =
        fleet.hosts().stream().filter(host -> host.address().equals(address)).toList();
    if (found.isEmpty()) {
      throw bad(
          "no host has the address '%s'; the file names %s"
              .formatted(
                  address,
                  String.join(", ", fleet.hosts().stream().map(RemoteHost::address).toList())));
    }
    return found.getFirst();
  }

  private CommandLine.ParameterException bad(String rule) {
    return new CommandLine.ParameterException(commandLine(), rule);
  }
}
