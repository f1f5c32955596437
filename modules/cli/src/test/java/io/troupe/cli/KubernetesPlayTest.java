package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.core.audit.AuditReport;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.audit.JournalAudit;
import io.troupe.store.folder.RunFolder;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The manifests of deploy/kubernetes on a played cluster, after the commands at their head. The
 * longer ones run on demand, as those of {@link ClusterTest}.
 */
final class KubernetesPlayTest {
  private static final String ON_DEMAND = "troupe.cluster.tests";
  private static final String RUN =
      TestCluster.RUN.replace("steps: 8", "steps: 30").replace("every: 2", "every: 1");

  @TempDir private Path folder;

  @BeforeEach
  void configure() throws IOException {
    Files.createDirectory(folder.resolve("run"));
    Files.writeString(folder.resolve("run/run.yaml"), RUN);
  }

  /** Makes the secret by the commands of the manifest's head. */
  private KubernetesManifest withKeys(String name) throws Exception {
    KubernetesManifest manifest = KubernetesManifest.read(name);
    for (String line : manifest.commands().lines().toList()) {
      if (line.startsWith("./troupe certs ")) {
        String[] words = line.substring("./troupe ".length()).split(" ", -1);
        words[2] = folder.resolve(words[2]).toString();
        assertThat(Main.commandLine().execute(words)).isZero();
      }
    }
    Files.move(folder.resolve("certs/hosts/pods"), folder.resolve("keys"));
    return manifest;
  }

  private RunFolder run() throws IOException {
    return TestRuns.only(folder.resolve("claim"));
  }

  private boolean trained(int steps) throws IOException {
    Path runs = folder.resolve("claim/runs");
    return Files.isDirectory(runs)
        && !RunFolder.list(runs).isEmpty()
        && Files.exists(run().metrics())
        && TestRuns.losses(run()).size() >= steps;
  }

  private void assertSound() throws IOException {
    assertThat(TestRuns.losses(run())).hasSize(30);
    AuditReport audit = JournalAudit.of(run()).report();
    assertThat(audit.sound()).as(audit.violations().toString()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"troupe.yaml", "jobset.yaml"})
  @EnabledIfSystemProperty(named = ON_DEMAND, matches = "true")
  void jobs_podsKilled_areStartedAgainAndEndWhole(String name) throws Exception {
    KubernetesManifest manifest = withKeys(name);
    List<String> nodes = manifest.jobs().getLast().hosts();
    String coordinator = manifest.jobs().getFirst().hosts().getFirst();
    try (PlayedKubernetes cluster = new PlayedKubernetes(folder, manifest)) {
      Await.until("steps", () -> reconciled(cluster) && trained(2));
      cluster.pod(nodes.getFirst()).kill();
      Await.until(
          "a node in its place",
          () -> reconciled(cluster) && cluster.starts(nodes.getFirst()) == 2);
      cluster.pod(nodes.getLast()).signal("TERM");
      Await.until(
          "the evicted node in its place",
          () -> reconciled(cluster) && cluster.starts(nodes.getLast()) == 2);
      int steps = TestRuns.losses(run()).size();
      Await.until("steps with the new nodes", () -> reconciled(cluster) && trained(steps + 2));
      cluster.killAll();
      Await.until("the whole run", () -> reconciled(cluster) && cluster.complete());
      assertThat(cluster.starts(coordinator)).isEqualTo(2);
      assertThat(cluster.ends())
          .anyMatch(end -> end.startsWith(nodes.getLast() + " ended with code 143"));
    }
    assertSound();
  }

  /** The one node that is there does all the work. */
  @Test
  @EnabledIfSystemProperty(named = ON_DEMAND, matches = "true")
  void jobs_aPodThatNeverComes_theRunEndsWithoutIt() throws Exception {
    KubernetesManifest manifest = withKeys("troupe.yaml");
    String never = manifest.jobs().getLast().host(1);
    try (PlayedKubernetes cluster = new PlayedKubernetes(folder, manifest)) {
      Await.until(
          "the run",
          () -> {
            cluster.reconcile(never);
            return cluster.fate("coordinator.troupe") == PlayedKubernetes.Fate.COMPLETE
                && cluster.fate("node-0.troupe") == PlayedKubernetes.Fate.COMPLETE;
          });
    }
    assertSound();
  }

  @Test
  void coordinator_refusedConfiguration_failsItsJobAtOnce() throws Exception {
    KubernetesManifest manifest = withKeys("troupe.yaml");
    Files.writeString(folder.resolve("run/run.yaml"), RUN.replace("steps: 30", "steps: none"));
    try (PlayedKubernetes cluster = new PlayedKubernetes(folder, manifest)) {
      String[] nodes = manifest.jobs().getLast().hosts().toArray(String[]::new);
      Await.until(
          "the refusal",
          () -> {
            cluster.reconcile(nodes);
            return cluster.fate("coordinator.troupe") == PlayedKubernetes.Fate.FAILED;
          });
      assertThat(cluster.ends())
          .singleElement()
          .asString()
          .contains("code " + ExitCode.USAGE.code(), "training.steps");
    }
  }

  private static boolean reconciled(PlayedKubernetes cluster) throws Exception {
    cluster.reconcile();
    return true;
  }
}
