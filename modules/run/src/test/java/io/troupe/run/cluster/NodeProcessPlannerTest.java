package io.troupe.run.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.net.HostPort;
import io.troupe.base.process.ChildSpec;
import io.troupe.cluster.NodeAgent;
import io.troupe.cluster.NodeWeightStore;
import io.troupe.cluster.RunDescriptor;
import io.troupe.config.RunConfig;
import io.troupe.hosts.placement.NodeAssignment;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.ListenAddress;
import io.troupe.net.secret.RunSecret;
import io.troupe.run.compose.ChildSecrets;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.GpuOption;
import io.troupe.run.compose.InputDigests;
import io.troupe.run.compose.TestRuns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NodeProcessPlannerTest {
  @TempDir private Path folder;

  private RunDescriptor terms() throws IOException {
    return terms(Map.of());
  }

  private RunDescriptor terms(Map<String, String> inputs) throws IOException {
    Path run = folder.resolve("run");
    Files.createDirectories(run.resolve("cluster"));
    Files.writeString(run.resolve("cluster").resolve("token"), "token");
    return new RunDescriptor(
        "run", run.toString(), "token", TestRuns.DJL, RunSecret.random().hex(), false, inputs, "");
  }

  private List<ChildSpec> planned(int workers, String gpus) throws IOException {
    return planned(workers, gpus, true, terms());
  }

  private List<ChildSpec> planned(int workers, String gpus, boolean takesOver, RunDescriptor terms)
      throws IOException {
    return planned(Optional.of(workers), gpus, takesOver, terms, NodeAssignment.UNMANAGED);
  }

  private List<ChildSpec> planned(
      Optional<Integer> workers,
      String gpus,
      boolean takesOver,
      RunDescriptor terms,
      NodeAssignment share)
      throws IOException {
    return new NodeProcessPlanner(
            "a",
            workers,
            takesOver,
            folder,
            List.of("--seed", "127.0.0.1:1"),
            0,
            GpuOption.gpus(gpus, folder.resolve("a")),
            new NodeWeightStore(
                "a",
                new ListenAddress(new HostPort("127.0.0.1", 0), ConnectionFactory.onLoopback())))
        .plan(terms, share, (_, _) -> {})
        .children();
  }

  @Test
  void of_gpus_givesEachWorkerOneOfItsOwn() throws IOException {
    List<ChildSpec> children = planned(2, "virtual:4");
    assertThat(children).extracting(ChildSpec::name).containsExactly("a-w1", "a-w2", "a-standby");
    assertThat(children)
        .extracting(child -> child.environment().getOrDefault("CUDA_VISIBLE_DEVICES", "all"))
        .containsExactly("0", "1", "2");
  }

  @Test
  void of_noGpuLeftForTheStandby_letsItSeeNone() throws IOException {
    assertThat(planned(2, "virtual:2"))
        .extracting(child -> child.environment().getOrDefault("CUDA_VISIBLE_DEVICES", "all"))
        .containsExactly("0", "1", "");
  }

  @Test
  void of_weightsOverTheNetwork_needNoRunFolderUnlessTheNodeMayTakeOver() throws IOException {
    String secret = RunSecret.random().hex();
    RunDescriptor terms =
        new RunDescriptor("run", "/nowhere/run", "token", TestRuns.DJL, secret, true, Map.of(), "");
    ChildSpec worker = planned(1, "none", false, terms).getFirst();
    assertThat(worker.command()).contains("--weights").noneMatch(part -> part.contains(secret));
    assertThat(worker.environment()).containsEntry(ChildSecrets.WEIGHTS, secret);
    assertThat(terms.toString()).doesNotContain(secret);

    assertThatThrownBy(() -> planned(1, "none", true, terms))
        .hasMessageContaining("the run folder /nowhere/run is not the coordinator's on this host");
  }

  @Test
  void of_dataThatAreNotTheCoordinators_isRefusedWithWhatToDo() throws IOException {
    Path yaml = Path.of(TestRuns.write(folder, TestRuns.DJL));
    Composition here = Composition.of(RunConfig.load(yaml, List.of()).config());
    Composition other =
        Composition.of(RunConfig.load(yaml, List.of("task.held_out_share=0.4")).config());
    Map<String, String> inputs = InputDigests.of(here);
    assertThat(InputDigests.of(other).get("data")).isNotEqualTo(inputs.get("data"));

    assertThat(planned(1, "none", false, terms(inputs))).hasSize(1);
    assertThatThrownBy(() -> planned(1, "none", false, terms(InputDigests.of(other))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("data of run run is not the coordinator's on this host (digest ")
        .hasMessageContaining(
            "the files that `task`, `data` and `supervised` name must be the coordinator's");
  }

  @Test
  void of_shareOfAPlacement_startsItsWorkersOnItsGpus() throws IOException {
    NodeAssignment share =
        new NodeAssignment(1, List.of(List.of(2), List.of(3)), List.of(), List.of(0), List.of(1));
    NodeProcessPlanner planner =
        new NodeProcessPlanner(
            "a",
            Optional.empty(),
            false,
            folder,
            List.of("--seed", "127.0.0.1:1"),
            0,
            GpuOption.gpus("virtual:4", folder.resolve("a")),
            new NodeWeightStore(
                "a",
                new ListenAddress(new HostPort("127.0.0.1", 0), ConnectionFactory.onLoopback())));
    assertThat(planner.plan(terms(), share, (_, _) -> {}).children())
        .extracting(child -> child.environment().get("CUDA_VISIBLE_DEVICES"))
        .containsExactly("2", "3");
    assertThatThrownBy(
            () ->
                planner.plan(
                    terms(),
                    new NodeAssignment(1, List.of(List.of(7)), List.of(), List.of(), List.of()),
                    (_, _) -> {}))
        .hasMessageContaining("1 GPUs are wanted");
  }

  @Test
  void of_ranksOfAPlacement_startsThemOnTheirGpusBesideTheWorkers() throws IOException {
    NodeAssignment share =
        new NodeAssignment(
            0,
            List.of(List.of(3)),
            List.of(
                new NodeAssignment.AssignedRank(4, List.of(0)),
                new NodeAssignment.AssignedRank(5, List.of(1))),
            List.of(),
            List.of(2));
    NodeAgent.ProcessPlan plan =
        new NodeProcessPlanner(
                "a",
                Optional.empty(),
                false,
                folder,
                List.of("--seed", "127.0.0.1:1"),
                7421,
                GpuOption.gpus("virtual:4", folder.resolve("a")),
                new NodeWeightStore(
                    "a",
                    new ListenAddress(
                        new HostPort("127.0.0.1", 0), ConnectionFactory.onLoopback())))
            .plan(terms(), share, (_, _) -> {});
    assertThat(plan.ranks()).containsExactlyInAnyOrder("a-t4", "a-t5");
    assertThat(plan.children())
        .extracting(NodeProcessPlannerTest::does)
        .containsExactly("a-w1 draws on 3", "a-t4 draws on 0", "a-t5 draws on 1");
    ChildSpec rank = plan.children().getLast();
    assertThat(rank.command())
        .containsSubsequence(
            "trainer-rank", "--rank", "5", "--ranks-on-node", "2", "--ranks-port", "7422")
        .doesNotContain("--coordinator");
    assertThat(rank.environment()).containsKey(ChildSecrets.RANK);
  }

  private List<ChildSpec> serving(
      String sidecars, Optional<Integer> asked, NodeAssignment share, String gpus)
      throws IOException {
    RunDescriptor of = terms();
    RunDescriptor terms =
        new RunDescriptor(
            of.run(),
            of.folder(),
            of.token(),
            TestRuns.DJL.replace("rollout:", "rollout:\n" + sidecars.indent(2).stripTrailing()),
            of.secret(),
            false,
            Map.of(),
            "");
    return planned(asked, gpus, false, terms, share);
  }

  private static String does(ChildSpec child) {
    return "%s %s on %s"
        .formatted(
            child.name(),
            child.command().contains("--server-folder") ? "serves" : "draws",
            child.environment().getOrDefault("CUDA_VISIBLE_DEVICES", "no GPU"));
  }

  @Test
  void of_serversOnly_givesEachWorkerAServerAndTheServersGpus() throws IOException {
    String vllm =
        """
        workers: 0
        sidecars:
          count: 2
          server: vllm
          model: /models/base
          tensor_parallel: 2
        """;
    assertThat(serving(vllm, Optional.empty(), NodeAssignment.UNMANAGED, "virtual:4"))
        .extracting(NodeProcessPlannerTest::does)
        .containsExactly("a-w1 serves on 0,1", "a-w2 serves on 2,3");
    NodeAssignment share =
        new NodeAssignment(0, List.of(List.of(2, 3)), List.of(), List.of(0), List.of(1));
    assertThat(serving(vllm, Optional.empty(), share, "virtual:4"))
        .extracting(NodeProcessPlannerTest::does)
        .containsExactly("a-w1 serves on 2,3");
  }

  @Test
  void of_mixedPool_startsEnginesAndServers() throws IOException {
    String mixed = "workers: 1\nsidecars:\n  count: 1\n";
    assertThat(serving(mixed, Optional.empty(), NodeAssignment.UNMANAGED, "none"))
        .extracting(NodeProcessPlannerTest::does)
        .containsExactly("a-w1 draws on no GPU", "a-w2 serves on no GPU");
    assertThat(serving(mixed, Optional.of(1), NodeAssignment.UNMANAGED, "none"))
        .extracting(NodeProcessPlannerTest::does)
        .containsExactly("a-w1 serves on no GPU");
  }

  @Test
  void of_moreWorkersThanGpus_isRefused() {
    assertThatThrownBy(() -> planned(3, "virtual:2"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("3 GPUs are wanted, and 2 of this host's 2 are free");
    assertThatThrownBy(() -> planned(1, "virtual:many")).hasMessageContaining("takes a number");
  }
}
