package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.audit.JournalAudit;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real JVMs whose hosts share nothing: three addresses, three working folders, and the weights go
 * over the network. It takes a minute, so it runs on demand, like {@link ClusterTest}'s longer one.
 */
@EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
final class SeparateFoldersTest {
  private static final String RUN =
      TestRuns.TOY
          + """
          cluster:
            worker_heap: 96
            drain_timeout: 20s
          """;

  @TempDir private Path folder;

  private ChildRun node(String name, String address, String seed) throws IOException {
    return TestCluster.nodeIn(folder.resolve(name), name, address, seed, "--workers", "1");
  }

  @Test
  void run_nodesWithFoldersOfTheirOwnAndOneKilled_goesOnAndItsAccountAddsUp() throws Exception {
    Path home = folder.resolve("coordinator");
    try (ChildRun coordinator = TestCluster.coordinatorIn(home, RUN)) {
      String seed = TestCluster.seed(coordinator);
      try (ChildRun a = node("a", "127.0.0.2", seed);
          ChildRun b = node("b", "127.0.0.3", seed)) {
        a.awaitErr("works for");
        b.awaitErr("works for");
        coordinator.awaitOut(20);
        b.kill();
        int atKill = coordinator.out().size();
        coordinator.awaitErr("node b is gone");
        coordinator.awaitOut(atKill + 50);
        coordinator.signal("TERM");
        assertThat(coordinator.awaitExit()).as(coordinator.said()).isEqualTo(ExitCode.ofSignal(15));
      }
    }
    RunFolder run = TestRuns.only(home);
    assertThat(JournalAudit.of(run).report().sound()).isTrue();
    try (Stream<Path> left = Files.walk(home)) {
      assertThat(left.filter(file -> file.toString().endsWith(".safetensors")))
          .allMatch(file -> file.toString().contains("checkpoints"));
    }
  }
}
