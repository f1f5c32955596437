package io.troupe.launch;

import io.troupe.base.process.Announcements;
import io.troupe.base.process.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe launch}: a run on many hosts, over ssh. */
@Command(
    name = "launch",
    mixinStandardHelpOptions = true,
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
public final class LaunchCommand implements Runnable {
  public static final String RUN = "run";
  public static final String AGENT = "agent";

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public void run() {
    CommandLine command = Objects.requireNonNull(spec).commandLine();
    command.usage(command.getOut());
  }

  @Command(
      name = "stop",
      mixinStandardHelpOptions = true,
      description = {
        "Drains the run and then the agents (SIGTERM), waits for them, and removes the keys that"
            + " `up --tls` put on the hosts.",
        "Exit code 3 if a host cannot be reached; the others are stopped."
      })
  int stop(@Mixin LaunchOptions options) throws IOException, InterruptedException {
    HostRunner reach = new HostRunner(err());
    try (RemoteHosts fleet = options.fleet(out())) {
      stop(fleet, reach, fleet.hosts().getFirst(), RUN);
      for (RemoteHost host : fleet.hosts()) {
        stop(fleet, reach, host, AGENT);
      }
      for (RemoteHost host : fleet.hosts()) {
        reach.run(
            host,
            () -> {
              fleet.removeKeys(host, List.of(RUN, AGENT));
              return true;
            });
      }
    }
    return reach.exit().code();
  }

  private static void stop(RemoteHosts fleet, HostRunner reach, RemoteHost host, String name)
      throws InterruptedException {
    reach.run(
        host,
        () -> {
          fleet.stop(host, name);
          return true;
        });
  }

  @Command(
      name = "status",
      mixinStandardHelpOptions = true,
      description =
          "Says what runs where. Exit code 3 if an agent or the run does not, or if a host cannot"
              + " be reached.")
  int status(@Mixin LaunchOptions options) throws IOException, InterruptedException {
    try (RemoteHosts fleet = options.fleet(out())) {
      HostRunner reach = new HostRunner(err());
      RemoteHost coordinator = fleet.hosts().getFirst();
      boolean up = reach.run(coordinator, () -> fleet.status(coordinator, RUN));
      for (RemoteHost host : fleet.hosts()) {
        up &= reach.run(host, () -> fleet.status(host, AGENT));
      }
      return (up ? ExitCode.OK : ExitCode.UNREACHABLE).code();
    }
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
    try (RemoteHosts fleet = options.fleet(out())) {
      RemoteHost host = address.isEmpty() ? fleet.hosts().getFirst() : find(fleet, address);
      if (follow) {
        LogFollower following = new LogFollower(fleet, options, out());
        return address.isEmpty() ? following.run() : following.agent(host);
      }
      boolean shown = fleet.show(host, address.isEmpty() ? RUN : AGENT);
      return (shown ? ExitCode.OK : ExitCode.UNREACHABLE).code();
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
    try (RemoteHosts fleet = options.fleet(out())) {
      RemoteHost host = find(fleet, address);
      fleet.stop(host, AGENT);
      fleet.again(host, AGENT);
      fleet.await(host, AGENT, Announcements.AGENT_READY);
      return (fleet.status(host, AGENT) ? ExitCode.OK : ExitCode.UNREACHABLE).code();
    }
  }

  @Command(
      name = "bundle",
      mixinStandardHelpOptions = true,
      description = "Puts this build into a folder that needs nothing but a JDK, for an image.")
  int bundle(
      @Parameters(index = "0", paramLabel = "DIR", description = "A new folder.") Path folder)
      throws IOException {
    Bundle made = Bundle.ofThisProcess(folder);
    out().println("made    %s · build %s".formatted(made.folder(), made.digest().substring(0, 12)));
    out().flush();
    return ExitCode.OK.code();
  }

  private RemoteHost find(RemoteHosts fleet, String address) {
    List<RemoteHost> found =
        fleet.hosts().stream().filter(host -> host.address().equals(address)).toList();
    if (found.isEmpty()) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(spec).commandLine(),
          "no host has the address '%s'; the file names %s"
              .formatted(
                  address,
                  String.join(", ", fleet.hosts().stream().map(RemoteHost::address).toList())));
    }
    return found.getFirst();
  }

  private PrintWriter out() {
    return Objects.requireNonNull(spec).commandLine().getOut();
  }

  private PrintWriter err() {
    return Objects.requireNonNull(spec).commandLine().getErr();
  }
}
