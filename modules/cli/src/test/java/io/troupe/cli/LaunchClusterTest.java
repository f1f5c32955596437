package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.troupe.base.process.Announcements;
import io.troupe.base.process.ExitCode;
import io.troupe.launch.SshServer;
import io.troupe.launch.remote.RemoteHost;
import io.troupe.run.compose.TestRuns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code troupe launch} with the real build, as an operator uses it: a real ssh server whose three
 * loopback addresses are three hosts with a disk each. On demand, like {@link ClusterTest}'s longer
 * ones; needs root, for the disks.
 */
@EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
final class LaunchClusterTest {
  private static final List<String> ADDRESSES = List.of("127.0.0.2", "127.0.0.3", "127.0.0.4");
  private static final String COORDINATOR = ADDRESSES.getFirst();
  private static final String NODE = ADDRESSES.get(1);
  private static final String RUN =
      TestCluster.RUN.replace("steps: 8", "steps: 1000000") + "  workers_per_node: 1\n";

  private static final String RANKS =
      RUN
          + """
          placement:
            nodes: 3
            gpus_per_node: 1
            trainer_ranks: 2
            ranks_as: nodes
            coordinator_gpu: false
            rollout_workers: 1
          """;

  @TempDir private Path folder;
  private List<String> options = List.of();

  @Test
  void launch_realBuildOverSsh_isDetachedRestartedResumedAndStopped() throws Exception {
    assumeTrue(SshServer.installed(), "no sshd: apt-get install openssh-server openssh-client");
    assumeTrue(
        new ProcessBuilder("unshare", "-m", "true").start().waitFor() == 0, "mounts need root");
    Path disks = folder.resolve("disks");
    Path there = folder.resolve("there");
    Path keys = Files.createDirectories(folder.resolve("keys"));
    TestCluster cluster = new TestCluster(disks.resolve(COORDINATOR), RUN);
    try (SshServer server = SshServer.startWithDisks(keys, ADDRESSES, disks, there)) {
      options = options(server, there);
      try {
        upAndDetach(cluster);
        look();
        restartNode(cluster);
        killCoordinatorAndResume(cluster);
      } finally {
        assertThat(launch("stop").code()).isZero();
      }
    }
    assertThat(processesOf("io.troupe.cli.Main")).isEmpty();
    cluster.audit();
  }

  /** A launch with mutual TLS between the hosts, and trainer ranks on two of them. */
  @Test
  void launch_withKeys_isMutualTlsAndLeavesNoKeysBehind() throws Exception {
    assumeTrue(SshServer.installed(), "no sshd: apt-get install openssh-server openssh-client");
    assumeTrue(
        new ProcessBuilder("unshare", "-m", "true").start().waitFor() == 0, "mounts need root");
    Path disks = folder.resolve("disks");
    Path there = folder.resolve("there");
    String certs = folder.resolve("certs").toString();
    assertThat(Main.commandLine().execute("certs", "init", certs)).isZero();
    for (String address : ADDRESSES) {
      assertThat(
              Main.commandLine()
                  .execute("certs", "issue", certs, "host-" + address, "--address", address))
          .isZero();
    }
    TestCluster cluster = new TestCluster(disks.resolve(COORDINATOR), RANKS);
    try (SshServer server =
        SshServer.startWithDisks(
            Files.createDirectories(folder.resolve("keys")), ADDRESSES, disks, there)) {
      options = options(server, there);
      try {
        List<String> up = new ArrayList<>(List.of(TestRuns.write(folder, RANKS), "--tls", certs));
        int port = freePorts();
        up.addAll(List.of("--port", Integer.toString(port)));
        up.addAll(List.of("--weights-port", Integer.toString(port + 2)));
        up.addAll(List.of("--ranks-port", Integer.toString(port + 4), "--detach"));
        Said said = launch("up", up.toArray(String[]::new));
        assertThat(said.code()).as(said.text()).isZero();
        awaitStep(cluster, 0);
        assertThat(launch("logs").text()).contains("all trainer ranks begin");
        assertThat(keysOn(disks)).hasSize(3);

        Said stopped = launch("stop");
        assertThat(stopped.code()).as(stopped.text()).isZero();
        assertThat(keysOn(disks)).isEmpty();
        int ended = cluster.events().size();
        Said keyless = launch("resume", "--detach");
        assertThat(keyless.code()).as(keyless.text()).isNotZero();
        assertThat(keyless.text()).contains("the keys are gone", "pass --tls DIR");
        Said resumed = launch("resume", "--detach", "--tls", certs);
        assertThat(resumed.code()).as(resumed.text()).isZero();
        awaitStep(cluster, ended);
      } finally {
        assertThat(launch("stop").code()).isZero();
      }
    }
    assertThat(keysOn(disks)).isEmpty();
    assertThat(processesOf("io.troupe.cli.Main")).isEmpty();
    cluster.audit();
  }

  private static List<Path> keysOn(Path disks) throws IOException {
    try (Stream<Path> all = Files.walk(disks)) {
      return all.filter(file -> file.endsWith("node.p12")).collect(Collectors.toList());
    }
  }

  private void upAndDetach(TestCluster cluster) throws Exception {
    List<String> up = new ArrayList<>(List.of("launch", "up", TestRuns.write(folder, RUN)));
    up.addAll(options);
    int port = freePorts();
    up.addAll(List.of("--port", Integer.toString(port)));
    up.addAll(List.of("--weights-port", Integer.toString(port + 2)));
    try (ChildRun launch = start(up)) {
      TestCluster.await(
          launch, "the run is followed", () -> contains(launch.out(), "following the run"));
      cluster.awaitWork(launch, 0, NODE + "-w1");
      cluster.awaitStep(launch, 0);
      TestCluster.await(
          launch,
          "its rows show",
          () -> contains(launch.out(), Announcements.COORDINATOR_AT + COORDINATOR));
      launch.signal("INT");
      assertThat(launch.awaitExit()).as(launch.said()).isEqualTo(ExitCode.ofSignal(2));
      assertThat(launch.out())
          .anyMatch(
              line -> line.startsWith("detached from the run on ") && line.contains(COORDINATOR))
          .contains(
              "follow  troupe launch logs --follow " + quoted(),
              "status  troupe launch status " + quoted(),
              "stop    troupe launch stop " + quoted());
    }
    assertThat(processesOf("ControlPath")).as("connections left here").isEmpty();
    assertThat(processesOf("tail")).as("followers left on the host").isEmpty();
    int detached = cluster.events().size();
    try (ChildRun status = start(arguments("status"))) {
      assertThat(status.awaitExit()).as(status.said()).isZero();
    }
    awaitStep(cluster, detached);
  }

  private void look() throws Exception {
    Said status = launch("status");
    assertThat(status.code()).as(status.text()).isZero();
    assertThat(status.text()).contains(ADDRESSES).contains("run: process", "agent: process");
    assertThat(launch("logs").text()).contains(Announcements.COORDINATOR_AT + COORDINATOR);
    assertThat(launch("logs", NODE).text()).contains("works for");
  }

  private void restartNode(TestCluster cluster) throws Exception {
    int before = cluster.events().size();
    Said said = launch("restart-node", NODE);
    assertThat(said.code()).as(said.text()).isZero();
    assertThat(said.text()).contains("agent ended", "agent: process");
    try (ChildRun follower = start(arguments("logs", NODE, "--follow"))) {
      cluster.awaitWork(follower, before, NODE + "-w1");
      follower.signal("TERM");
      assertThat(follower.awaitExit()).isEqualTo(ExitCode.ofSignal(15));
      assertThat(follower.out()).anyMatch(line -> line.startsWith("detached from the agent on "));
    }
    assertThat(cluster.lost(NODE + "-w1")).as("leases that the drained node lost").isEmpty();
  }

  private void killCoordinatorAndResume(TestCluster cluster) throws Exception {
    long coordinator = processesOf("train").getFirst().pid();
    try (ChildRun follower = start(arguments("logs", "--follow"))) {
      TestCluster.await(follower, "it shows the log", () -> !follower.out().isEmpty());
      ProcessHandle.of(coordinator).orElseThrow().destroyForcibly();
      assertThat(follower.awaitExit()).as(follower.said()).isEqualTo(ExitCode.ofSignal(9));
      assertThat(follower.out())
          .anyMatch(line -> line.startsWith("the run on ") && line.endsWith("exit code 137"))
          .contains("resume  troupe launch resume " + quoted());
    }
    assertThat(launch("status").code()).isEqualTo(ExitCode.UNREACHABLE.code());
    int killed = cluster.events().size();
    Said resumed = launch("resume", "--detach");
    assertThat(resumed.code()).as(resumed.text()).isZero();
    awaitStep(cluster, killed);
  }

  /** While a follower shows the log, so that its end would be noticed. */
  private void awaitStep(TestCluster cluster, int count) throws Exception {
    try (ChildRun follower = start(arguments("logs", "--follow"))) {
      cluster.awaitStep(follower, count);
      follower.signal("INT");
      assertThat(follower.awaitExit()).isEqualTo(ExitCode.ofSignal(2));
    }
  }

  private List<String> options(SshServer server, Path there) throws IOException {
    RemoteHost any = server.host(COORDINATOR);
    String user = any.login().substring(0, any.login().indexOf('@') + 1);
    Path hosts =
        Files.write(
            folder.resolve("hosts.txt"),
            ADDRESSES.stream()
                .map(address -> "%s%s %d".formatted(user, address, any.sshPort()))
                .toList());
    List<String> made = new ArrayList<>();
    made.addAll(List.of("--hosts", hosts.toString(), "--remote", there.toString()));
    server.options("user").forEach(option -> made.addAll(List.of("--ssh-option", option)));
    return made;
  }

  private String quoted() {
    return String.join(" ", options);
  }

  private record Said(int code, String text) {}

  private Said launch(String verb, String... words) throws IOException {
    try (ChildRun launch = start(arguments(verb, words))) {
      int code = launch.awaitExit();
      return new Said(code, launch.said());
    }
  }

  private List<String> arguments(String verb, String... words) {
    List<String> arguments = new ArrayList<>(List.of("launch", verb));
    arguments.addAll(List.of(words));
    arguments.addAll(options);
    return arguments;
  }

  private ChildRun start(List<String> arguments) throws IOException {
    return ChildRun.start(folder, ChildRun.Size.TOY, arguments.toArray(String[]::new));
  }

  private static boolean contains(List<String> lines, String part) {
    return lines.stream().anyMatch(line -> line.contains(part));
  }

  /** Processes of this test that have a word in their command line. */
  private List<ProcessHandle> processesOf(String word) {
    String mine = folder.toString();
    return ProcessHandle.allProcesses()
        .filter(one -> one.pid() != ProcessHandle.current().pid())
        .filter(
            one -> {
              String line = commandLine(one);
              return line.contains(mine) && line.contains(word) && !line.contains("launch");
            })
        .collect(Collectors.toList());
  }

  /** {@link ProcessHandle.Info#commandLine} leaves out what is long. */
  private static String commandLine(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"))
          .replace('\0', ' ');
    } catch (IOException gone) {
      return "";
    }
  }

  /** The first of four that follow each other and are free. */
  private static int freePorts() throws IOException {
    int port = SshServer.freePort();
    return port < 65000 ? port : 40000;
  }
}
