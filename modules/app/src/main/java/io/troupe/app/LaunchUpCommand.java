package io.troupe.app;

import io.troupe.app.launch.Bundle;
import io.troupe.app.launch.Fleet;
import io.troupe.app.launch.HostFacts;
import io.troupe.app.launch.RemoteHost;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
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
      "^C detaches; the run goes on."
    })
final class LaunchUpCommand implements Callable<Integer> {
  /** What an agent says once it is a member of the cluster. */
  static final String AGENT_UP = "is in cluster";

  private static final String CONFIG = "run.yaml";

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;
  @Mixin private LaunchOptions options = new LaunchOptions();

  @Parameters(index = "0", paramLabel = "FILE", description = "Configuration of the run.")
  private Path file = Path.of("run.yaml");

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "7400",
      description = "The head listens there, the agents at the next one (${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--weights-port",
      paramLabel = "N",
      defaultValue = "7410",
      description = "The head serves weights there, the agents at the next one (${DEFAULT-VALUE}).")
  private int weightsPort;

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
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    try (Fleet fleet = options.fleet(out)) {
      try {
        start(fleet, out);
      } catch (Fleet.NotReadyException notReady) {
        PrintWriter err = spec().commandLine().getErr();
        String.valueOf(notReady.getMessage())
            .lines()
            .forEach(line -> err.println("error: " + line));
        err.println("nothing was started");
        err.flush();
        return ExitCode.UNREACHABLE.code();
      }
      say(out, "status  " + options.command("status"));
      say(out, "stop    " + options.command("stop"));
      if (detach) {
        return ExitCode.OK.code();
      }
      say(out, "following the run; ^C detaches");
      return new LaunchFollow(fleet, options, out).run();
    }
  }

  private void start(Fleet fleet, PrintWriter out)
      throws Fleet.NotReadyException, IOException, InterruptedException {
    var facts = fleet.check(List.of(port, port + 1, weightsPort, weightsPort + 1));
    copy(fleet, facts);
    RemoteHost head = fleet.hosts().getFirst();
    fleet.write(CONFIG, Files.readString(file));
    fleet.start(head, LaunchCommand.RUN, java(facts, head), train(head));
    for (RemoteHost host : fleet.hosts()) {
      fleet.start(host, LaunchCommand.AGENT, java(facts, host), agent(host, head));
    }
    for (RemoteHost host : fleet.hosts()) {
      fleet.await(host, LaunchCommand.AGENT, AGENT_UP);
      say(out, "%-24s agent is up".formatted(host.login()));
    }
  }

  private static String java(Map<RemoteHost, HostFacts> facts, RemoteHost host) {
    return Objects.requireNonNull(facts.get(host)).java();
  }

  private void copy(Fleet fleet, Map<RemoteHost, HostFacts> facts)
      throws IOException, InterruptedException {
    if (build != null) {
      fleet.copy(Bundle.of(build), facts);
      return;
    }
    Path folder = Files.createTempDirectory("troupe-bundle");
    try {
      fleet.copy(Bundle.ofThisProcess(folder), facts);
    } finally {
      try (Stream<Path> all = Files.walk(folder)) {
        for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
  }

  private List<String> train(RemoteHost head) {
    List<String> arguments =
        new ArrayList<>(List.of("train", options.folder() + "/" + CONFIG, "--cluster"));
    arguments.addAll(List.of("--address", head.address(), "--port", Integer.toString(port)));
    arguments.addAll(List.of("--weights-port", Integer.toString(weightsPort)));
    return withPlain(arguments);
  }

  private List<String> agent(RemoteHost host, RemoteHost head) {
    List<String> arguments = new ArrayList<>(List.of("node", "--name", host.address()));
    arguments.addAll(List.of("--address", host.address(), "--port", Integer.toString(port + 1)));
    arguments.addAll(List.of("--weights-port", Integer.toString(weightsPort + 1)));
    arguments.addAll(List.of("--seed", head.address() + ":" + port));
    arguments.addAll(List.of("--config", options.folder() + "/" + CONFIG));
    arguments.addAll(List.of("--data", options.folder() + "/node-data"));
    return withPlain(arguments);
  }

  private List<String> withPlain(List<String> arguments) {
    if (plain) {
      arguments.add("--allow-plain-tcp");
    }
    return arguments;
  }

  private CommandLine.Model.CommandSpec spec() {
    return Objects.requireNonNull(spec);
  }

  private static void say(PrintWriter out, String line) {
    out.println(line);
    out.flush();
  }
}
