package io.troupe.base.net;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Hosts on one machine, for tests and benchmarks: network namespaces behind a bridge, of which each
 * can be cut off as if its cable were pulled. It needs Linux, {@code ip}, {@code unshare} and
 * {@code nsenter}, and user namespaces in place of root.
 *
 * <p>A namespace exists as long as a process of this one holds it, so that nothing is left even
 * after this process was killed.
 */
public final class HostNamespaces implements AutoCloseable {
  private static final String PREFIX = "10.77.0.";

  private final List<Process> namespaces = new ArrayList<>();

  private HostNamespaces() {}

  /** Whether this machine allows a user to make network namespaces. */
  public static boolean possible() throws InterruptedException {
    try {
      return new ProcessBuilder("unshare", "-Urn", "ip", "link", "add", "br0", "type", "bridge")
              .redirectErrorStream(true)
              .start()
              .waitFor()
          == 0;
    } catch (IOException absent) {
      return false;
    }
  }

  /** That many hosts, the first with the number 1. */
  public static HostNamespaces of(int hosts) throws IOException, InterruptedException {
    HostNamespaces network = new HostNamespaces();
    try {
      network.namespace("unshare", "-Urn");
      network.run(0, "ip link add name br0 type bridge && ip link set br0 up");
      for (int host = 1; host <= hosts; host++) {
        network.add(host);
      }
      return network;
    } catch (IOException e) {
      network.close();
      throw e;
    }
  }

  private void add(int host) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(enter(0));
    command.addAll(List.of("unshare", "-n"));
    namespace(command.toArray(String[]::new));
    run(
        0,
        "ip link add name v%1$d type veth peer name e%1$d && ip link set e%1$d netns %2$d && ip link set v%1$d master br0 up"
            .formatted(host, namespaces.get(host).pid()));
    run(
        host,
        "ip link set lo up && ip addr add %s/24 dev e%d && ip link set e%2$d up"
            .formatted(address(host), host));
  }

  /** A process that does nothing but hold a namespace, until its standard input ends. */
  private void namespace(String... command) throws IOException {
    List<String> whole =
        Stream.concat(Stream.of(command), Stream.of("sh", "-c", "echo ready; exec cat")).toList();
    Process process = new ProcessBuilder(whole).redirectErrorStream(true).start();
    namespaces.add(process);
    String line =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8)).readLine();
    if (!"ready".equals(line)) {
      throw new IOException("no network namespace: " + line);
    }
  }

  /** Returns the address of a host on the network between the namespaces. */
  public static String address(int host) {
    return PREFIX + host;
  }

  /** The words before a command that is to run on a host. */
  public List<String> on(int host) {
    return enter(host);
  }

  private List<String> enter(int number) {
    return List.of(
        "nsenter",
        "-t",
        Long.toString(namespaces.get(number).pid()),
        "-U",
        "-n",
        "--preserve-credentials",
        "--");
  }

  /** Pulls the cable of a host. */
  public void cut(int host) throws IOException, InterruptedException {
    run(0, "ip link set v%d down".formatted(host));
  }

  /** Connects a host again. */
  public void heal(int host) throws IOException, InterruptedException {
    run(0, "ip link set v%d up".formatted(host));
  }

  /**
   * Limits what a host sends, by a token bucket.
   *
   * @param megabits a second
   */
  public void shape(int host, int megabits) throws IOException, InterruptedException {
    run(
        host,
        "tc qdisc add dev e%d root tbf rate %dmbit burst 256kb latency 50ms"
            .formatted(host, megabits));
  }

  private void run(int number, String script) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(enter(number));
    command.addAll(List.of("sh", "-c", script));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException("%s: %s".formatted(script, said));
    }
  }

  @Override
  public void close() {
    namespaces.reversed().forEach(Process::destroyForcibly);
  }
}
