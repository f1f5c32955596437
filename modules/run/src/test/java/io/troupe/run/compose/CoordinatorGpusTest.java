package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.net.HostPort;
import io.troupe.base.process.ChildLedger;
import io.troupe.config.PlacementSection;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.engine.PolicyEngines;
import io.troupe.hosts.gpu.Gpu;
import io.troupe.hosts.gpu.GpuAssignments;
import io.troupe.hosts.gpu.GpuModel;
import io.troupe.hosts.gpu.GpuOccupants;
import io.troupe.hosts.gpu.NodeGpus;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CoordinatorGpusTest {
  @TempDir private Path folder;

  /** Returns the GPUs of a host with four, of which another program uses the last. */
  private static List<Gpu> four() {
    long foreign = ProcessHandle.current().pid();
    return IntStream.range(0, 4)
        .mapToObj(
            i ->
                new Gpu(
                    i,
                    "GPU-" + i,
                    "H200",
                    1L << 37,
                    0,
                    OptionalInt.of(0),
                    i < 3 ? List.of() : List.of(new Gpu.GpuProcess(foreign, "python", 1L << 30))))
        .toList();
  }

  private CoordinatorGpus host(String... visible) throws IOException {
    return new CoordinatorGpus(
        new NodeGpus(
            CoordinatorGpusTest::four,
            ChildLedger.open(folder.resolve("ledger")),
            GpuOccupants.ProcessTable.ofHost(),
            new GpuAssignments()),
        List.of(visible));
  }

  @Test
  void claim_freeOnes_areTheFirstOfThePlacementOrOfTheEnvironment() throws IOException {
    assertThat(host().claim(2, "auto")).extracting(Gpu::index).containsExactly(0, 1);
    assertThat(host().claim(1, "cuda:2")).extracting(Gpu::index).containsExactly(2);
    assertThat(host("GPU-1", "2").claim(2, "cuda")).extracting(Gpu::index).containsExactly(1, 2);
    assertThat(host("GPU-1", "2").claim(1, "cuda:1")).extracting(Gpu::index).containsExactly(2);
  }

  @Test
  void claim_foreignOne_isRefusedWithItsOccupant() {
    assertThatThrownBy(() -> host().claim(1, "cuda:3"))
        .hasMessageContaining("the coordinator: 1 GPUs are wanted")
        .hasMessageContaining("GPU 3 (H200) is used by pid " + ProcessHandle.current().pid());
  }

  @Test
  void handed_toACoordinatorByItsAgent_areThoseOfItsEnvironmentOrTheFirstOfAll()
      throws IOException {
    assertThat(CoordinatorGpus.assigned(CoordinatorGpusTest::four, List.of(), 2, "cuda:2"))
        .isEqualTo(new CoordinatorGpus.ComputeDevices(List.of("GPU-2", "GPU-3"), Set.of(2, 3)));
    assertThat(CoordinatorGpus.assigned(CoordinatorGpusTest::four, List.of(), 2, "auto").visible())
        .containsExactly("GPU-0", "GPU-1");
    assertThat(
            CoordinatorGpus.assigned(CoordinatorGpusTest::four, List.of("1", "GPU-3"), 2, "auto"))
        .isEqualTo(new CoordinatorGpus.ComputeDevices(List.of("GPU-1", "GPU-3"), Set.of(1, 3)));
  }

  @Test
  void deviceAmong_numberOfAnotherThanItWasHanded_isItsFirst() {
    assertThat(CoordinatorGpus.deviceWithin(List.of("GPU-1"), "cuda:1")).isEqualTo("cuda");
    assertThat(CoordinatorGpus.deviceWithin(List.of("GPU-0", "GPU-1"), "cuda:1"))
        .isEqualTo("cuda:1");
    assertThat(CoordinatorGpus.deviceWithin(List.of(), "cuda:1")).isEqualTo("cuda:1");
    assertThat(CoordinatorGpus.deviceWithin(List.of("GPU-1"), "auto")).isEqualTo("auto");
    assertThat(CoordinatorGpus.deviceWithin(List.of("GPU-1"), "cpu")).isEqualTo("cpu");
  }

  /** The coordinator's environment lists none. */
  @Test
  void child_ofACoordinatorThatClaimedAGpuForEachRank_seesItsOwnAndNoOther() throws IOException {
    RunFolder run = TestRuns.empty(folder);
    RunConfig config =
        ConfigurationFile.bind(
                RunConfig.class,
                folder.resolve("run.yaml"),
                """
                task: {name: arithmetic, min: 0, max: 9}
                policy: {engine: toy}
                rollout: {max_tokens: 3}
                training: {steps: 1, groups_per_step: 1, learning_rate: 0.01}
                placement: {nodes: 1, trainer_ranks: 2, ranks_as: children}
                """,
                List.of())
            .config();
    List<String> claimed = host().claim(2, "cuda:1").stream().map(Gpu::visible).toList();
    try (PolicyEngines members = Composition.of(config).engines()) {
      TrainerRankGroups crews =
          new TrainerRankGroups(config, run, members, claimed, Optional.empty(), _ -> {});
      HostPort coordinator = new HostPort("127.0.0.1", 1);
      assertThat(crews.child(0, coordinator, "").environment())
          .containsEntry("CUDA_VISIBLE_DEVICES", "GPU-1");
      assertThat(crews.child(1, coordinator, "").environment())
          .containsEntry("CUDA_VISIBLE_DEVICES", "GPU-2");
    }
  }

  @Test
  void inTheWay_coordinatorOnAnotherGpuThanThePlacementKeepsForIt_saysWhatToDo()
      throws IOException {
    PlacementSection full =
        new PlacementSection(
            2,
            4,
            GpuModel.AUTO,
            0,
            2,
            PlacementSection.RanksAs.NODES,
            true,
            true,
            Duration.ofMinutes(1),
            5,
            1,
            0,
            1,
            0);
    assertThat(CoordinatorGpus.conflictWarning(host().claim(1, "auto"), full)).isEmpty();
    assertThat(CoordinatorGpus.conflictWarning(host().claim(1, "cuda:2"), full).orElseThrow())
        .contains("computes on GPU 2", "another process of node 0", "draws as C");
  }
}
