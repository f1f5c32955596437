package io.troupe.launch;

import static io.troupe.core.Require.require;

import io.troupe.launch.remote.RemoteHost;
import io.troupe.launch.remote.RemoteHosts;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The arguments and ports of the processes of a launch. Files are named relative to the launch's
 * folder, where every process works. Pure.
 *
 * @param port of the coordinator; the agents have the next one
 * @param weightsPort of the coordinator; the agents have the next one
 * @param ranksPort port at which trainer ranks report to the coordinator; the ranks of a host
 *     listen at the next ones
 * @param ranksPerNode most trainer ranks of a host; 0 where no host starts any
 * @param keys whether the hosts have keys in the folder
 * @param plain whether plain TCP may go between hosts
 */
record LaunchPlan(
    int port, int weightsPort, int ranksPort, int ranksPerNode, boolean keys, boolean plain) {
  static final String CONFIG = "run.yaml";

  LaunchPlan {
    require(
        !keys || !plain, "a launch has --tls or --allow-plain-tcp, not both: with keys, use --tls");
  }

  /** Returns the ports that must be free on a host, which may have the coordinator and an agent. */
  List<Integer> ports() {
    List<Integer> ports = new ArrayList<>(List.of(port, port + 1, weightsPort, weightsPort + 1));
    if (ranksPerNode > 0) {
      IntStream.rangeClosed(ranksPort, ranksPort + ranksPerNode).forEach(ports::add);
    }
    require(
        ports.stream().distinct().count() == ports.size(),
        "--port, --weights-port and --ranks-port need ports of their own, and those that follow;"
            + " together they are %s",
        ports);
    return ports;
  }

  /** The run's, on the first host. */
  List<String> train(RemoteHost coordinator) {
    List<String> arguments = new ArrayList<>(List.of("train", CONFIG, "--cluster"));
    arguments.addAll(List.of("--address", coordinator.address(), "--port", Integer.toString(port)));
    arguments.addAll(List.of("--weights-port", Integer.toString(weightsPort)));
    return withKeys(withRanks(arguments, ranksPort));
  }

  /** A host's agent's. */
  List<String> agent(RemoteHost host, RemoteHost coordinator) {
    List<String> arguments = new ArrayList<>(List.of("node", "--name", host.address()));
    arguments.addAll(List.of("--address", host.address(), "--port", Integer.toString(port + 1)));
    arguments.addAll(List.of("--weights-port", Integer.toString(weightsPort + 1)));
    arguments.addAll(List.of("--seed", coordinator.address() + ":" + port));
    arguments.addAll(List.of("--config", CONFIG));
    arguments.addAll(List.of("--data", "node-data"));
    return withKeys(withRanks(arguments, ranksPort + 1));
  }

  private List<String> withRanks(List<String> arguments, int first) {
    if (ranksPerNode > 0) {
      arguments.addAll(List.of("--ranks-port", Integer.toString(first)));
    }
    return arguments;
  }

  private List<String> withKeys(List<String> arguments) {
    if (keys) {
      arguments.addAll(List.of("--tls", RemoteHosts.KEYS));
    }
    if (plain) {
      arguments.add("--allow-plain-tcp");
    }
    return arguments;
  }
}
