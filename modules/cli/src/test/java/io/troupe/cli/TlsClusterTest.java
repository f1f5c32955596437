package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.audit.JournalAudit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * The whole way of a cluster with certificates, by the commands an operator gives: an authority, a
 * folder of keys a host, a run over two hosts with its trainer ranks on one, and three nodes that
 * must be sent away. On demand, like {@link ClusterTest}'s longer ones.
 */
@EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
final class TlsClusterTest {
  private static final String RUN =
      TestRuns.TOY
          + """
          placement:
            nodes: 1
            gpus_per_node: 3
            trainer_ranks: 2
            ranks_as: nodes
            coordinator_gpu: false
          cluster:
            worker_heap: 96
            drain_timeout: 20s
          """;

  @TempDir private Path folder;

  @Test
  void run_certificatesOfOneAuthority_trainsAndTurnsStrangersAway() throws Exception {
    authority("certs", "coordinator", "127.0.0.1", "a", "127.0.0.2", "c", "127.0.0.3");
    authority("others", "c", "127.0.0.3");
    Path home = folder.resolve("home");
    try (ChildRun coordinator =
        TestCluster.coordinatorIn(home, RUN, "--tls", keys("certs", "coordinator"))) {
      String seed = TestCluster.seed(coordinator);
      try (ChildRun a = node(Optional.empty(), "a", "127.0.0.2", keys("certs", "a"), seed)) {
        a.awaitErr("works for");
        coordinator.awaitErr("all trainer ranks begin");
        coordinator.awaitOut(10);
        otherAuthority(coordinator, seed);
        otherName(coordinator, seed);
        otherBuild(coordinator, seed);
        coordinator.awaitOut(coordinator.out().size() + 10);
        coordinator.signal("TERM");
        assertThat(coordinator.awaitExit()).as(coordinator.said()).isEqualTo(ExitCode.ofSignal(15));
      }
    }
    assertThat(JournalAudit.of(TestRuns.only(home)).report().sound()).isTrue();
  }

  private void otherAuthority(ChildRun coordinator, String seed) throws Exception {
    try (ChildRun c = node(Optional.empty(), "c", "127.0.0.3", keys("others", "c"), seed)) {
      assertThat(c.awaitErr("refused a process that shows the certificate of"))
          .contains("CN=coordinator", "issue it with this cluster's `troupe certs issue`");
      coordinator.awaitErr("keys of another authority");
      assertThat(c.awaitExit()).as(c.said()).isEqualTo(ExitCode.UNREACHABLE.code());
      assertThat(c.awaitErr("no seed answered within 60 s")).contains(seed);
    }
  }

  private void otherName(ChildRun coordinator, String seed) throws Exception {
    Path there = Files.createDirectories(folder.resolve("c"));
    Path config = Files.writeString(there.resolve("other.yaml"), RUN + "  name: nightly\n");
    try (ChildRun c =
        node(
            Optional.empty(),
            "c",
            "127.0.0.3",
            keys("certs", "c"),
            seed,
            "--config",
            config.toString())) {
      assertThat(c.awaitExit()).as(c.said()).isEqualTo(ExitCode.UNREACHABLE.code());
      assertThat(c.awaitErr("refused"))
          .contains(seed, "this cluster is 'troupe' and not 'nightly'; set cluster.name");
      assertThat(coordinator.awaitErr("'nightly'")).contains("refused who=\"node c at 127.0.0.3:");
    }
  }

  private void otherBuild(ChildRun coordinator, String seed) throws Exception {
    Path jar = folder.resolve("troupe-more.jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new JarEntry("io/troupe/More.class"));
      out.write(1);
    }
    try (ChildRun c = node(Optional.of(jar), "c", "127.0.0.3", keys("certs", "c"), seed)) {
      assertThat(c.awaitExit()).as(c.said()).isEqualTo(ExitCode.UNREACHABLE.code());
      assertThat(c.awaitErr("refused"))
          .contains(seed, "this cluster runs build ", "put the same build on all hosts");
      assertThat(coordinator.awaitErr("put the same build")).contains("who=\"node c at 127.0.0.3:");
    }
  }

  private ChildRun node(
      Optional<Path> more, String name, String address, String keys, String seed, String... options)
      throws IOException {
    List<String> added = new ArrayList<>(List.of("--workers", "1", "--tls", keys));
    added.addAll(List.of(options));
    String[] own = added.toArray(String[]::new);
    Path there = Files.createDirectories(folder.resolve(name));
    return more.isEmpty()
        ? TestCluster.nodeIn(there, name, address, seed, own)
        : ChildRun.startWith(
            more.get(),
            there,
            ChildRun.Size.TOY,
            TestCluster.nodeArguments(name, address, seed, own));
  }

  private void authority(String name, String... hosts) {
    String certs = folder.resolve(name).toString();
    execute("certs", "init", certs);
    for (int i = 0; i < hosts.length; i += 2) {
      execute("certs", "issue", certs, hosts[i], "--address", hosts[i + 1]);
    }
  }

  private static void execute(String... arguments) {
    assertThat(Main.commandLine().execute(arguments)).isZero();
  }

  private String keys(String authority, String host) {
    return folder.resolve(authority).resolve("hosts").resolve(host).toString();
  }
}
