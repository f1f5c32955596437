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
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
    Fleet fleet = options.fleet(out);
    try {
      var facts = fleet.check(List.of(port, port + 1, weightsPort, weightsPort + 1));
      fleet.copy(bundle(), facts);
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
    } catch (Fleet.NotReadyException notReady) {
      PrintWriter err = spec().commandLine().getErr();
      String.valueOf(notReady.getMessage()).lines().forEach(line -> err.println("error: " + line));
      err.println("nothing was started");
      err.flush();
      return ExitCode.UNREACHABLE.code();
    }
    say(out, "status  troupe launch status " + options.again());
    say(out, "stop    troupe launch stop " + options.again());
    if (detach) {
      return ExitCode.OK.code();
    }
    say(out, "following the run; ^C detaches");
    return fleet.follow(fleet.hosts().getFirst(), LaunchCommand.RUN, true) == 0
        ? ExitCode.OK.code()
        : ExitCode.UNREACHABLE.code();
  }

  private static String java(Map<RemoteHost, HostFacts> facts, RemoteHost host) {
    return Objects.requireNonNull(facts.get(host)).java();
  }

  private Bundle bundle() throws IOException {
    if (build != null) {
      return Bundle.of(build);
    }
    Path folder = Files.createTempDirectory("troupe-bundle");
    return Bundle.ofThisProcess(folder);
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
