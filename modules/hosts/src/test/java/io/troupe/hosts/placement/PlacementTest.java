package io.troupe.hosts.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.hosts.placement.Placement.Outcome;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PlacementTest {
  private static Placement placed(PlacementRequest demand) {
    return ((Outcome.Placed) Placement.processesOf(demand)).placement();
  }

  @Test
  void of_sixteenGpus_trainersShareANodeAndWorkersFillTheRest() {
    assertThat(placed(new PlacementRequest(2, 8, 4, 0, 1, 1, 4, false, 0)).lines("a GPU each"))
        .containsEntry("gpu", "0   1   2   3   4   5   6   7")
        .containsEntry("node 0", "T0  T1  T2  T3  R0  W0  W1  W2")
        .containsEntry("node 1", "W3  W4  W5  W6  W7  W8  W9  W10")
        .containsEntry("idle", "no GPU");
  }

  @Test
  void of_coordinatorWithAGpu_isWhereTheRanksEndAndPartsNone() {
    Placement near = placed(new PlacementRequest(2, 8, 4, 0, 1, 0, 4, true, 0));
    assertThat(near.lines("a GPU each"))
        .containsEntry("node 0", "C   T0  T1  T2  T3  W0  W1  W2")
        .containsEntry("node 1", "W3  W4  W5  W6  W7  W8  W9  W10")
        .containsEntry("coordinator", "C: its copy of the policy, evaluations, a teacher");
    assertThat(near.coordinatorNode()).isZero();
    Placement beside = placed(new PlacementRequest(2, 4, 4, 0, 1, 0, 4, true, 0));
    assertThat(beside.lines("a GPU each"))
        .containsEntry("node 0", "T0 T1 T2 T3")
        .containsEntry("node 1", "C  W0 W1 W2");
    assertThat(beside.coordinatorNode()).isEqualTo(1);
    assertThat(Placement.processesOf(new PlacementRequest(2, 8, 4, 12, 1, 0, 4, true, 0)))
        .isEqualTo(
            new Outcome.Impossible(
                "the coordinator's GPU, 4 trainer ranks, 0 reference workers and 12 rollout workers"
                    + " of 1 GPUs do not fit on 2 nodes of 8 GPUs",
                "set placement.rollout_workers to 11 or less, or set placement.trainer_ranks to 3"
                    + " or less, or set placement.coordinator_gpu to false, or give it 3 nodes"));
  }

  @Test
  void of_tensorParallel_blocksAreAlignedAndTheRestIsNamed() {
    Placement placement = placed(new PlacementRequest(2, 8, 3, 0, 2, 0, 1, false, 0));
    assertThat(placement.lines("a GPU each"))
        .containsEntry("node 0", "T0 T1 T2 -  W0 W0 W1 W1")
        .containsEntry("node 1", "W2 W2 W3 W3 W4 W4 W5 W5")
        .containsEntry(
            "idle",
            "node 0 GPU 3 (a rollout worker takes 2 on one node: placement.trainer_ranks could be"
                + " 4)");
    assertThat(placement.idle()).isEqualTo(Map.of(0, List.of(3)));
  }

  @Test
  void of_fewerWorkersThanFit_spreadOverTheEmptiestNodes() {
    assertThat(placed(new PlacementRequest(2, 4, 2, 3, 1, 0, 1, false, 0)).lines("a GPU each"))
        .containsEntry("node 0", "T0 T1 -  W0")
        .containsEntry("node 1", "-  -  W1 W2")
        .containsEntry(
            "idle",
            "node 0 GPU 2; node 1 GPU 0, 1 (no role asks for them: placement.rollout_workers could"
                + " be 6)");
  }

  @Test
  void of_tooMuch_saysWhatToChange() {
    assertThat(Placement.processesOf(new PlacementRequest(2, 8, 12, 3, 2, 0, 1, false, 0)))
        .isEqualTo(
            new Outcome.Impossible(
                "12 trainer ranks, 0 reference workers and 3 rollout workers of 2 GPUs do not fit"
                    + " on 2 nodes of 8 GPUs",
                "set placement.rollout_workers to 2 or less, or set placement.trainer_ranks to 10"
                    + " or less, or give it 3 nodes"));
    assertThat(Placement.processesOf(new PlacementRequest(1, 8, 8, 0, 1, 0, 1, false, 0)))
        .isEqualTo(
            new Outcome.Impossible(
                "8 trainer ranks, 0 reference workers and 1 rollout workers of 1 GPUs do not fit on"
                    + " 1 nodes of 8 GPUs",
                "set placement.trainer_ranks to 7 or less, or give it 2 nodes"));
    assertThat(Placement.processesOf(new PlacementRequest(1, 8, 1, 0, 3, 0, 1, false, 0)))
        .isEqualTo(
            new Outcome.Impossible(
                "a rollout worker's 3 GPUs must divide a node's 8",
                "set placement.tensor_parallel to 1, 2, 4, 8"));
  }

  @Test
  void of_watcher_hasTheGpuBehindTheTrainer() {
    Placement watched = placed(new PlacementRequest(1, 4, 1, 0, 1, 0, 1, false, 1));
    assertThat(watched.lines("a GPU each"))
        .containsEntry("node 0", "T0 E  W0 W1")
        .containsEntry("evaluation", "E: the watcher, which evaluates checkpoints as they come");
    assertThat(watched.evaluationGpu()).hasValue(1);
    assertThat(placed(new PlacementRequest(1, 4, 1, 0, 1, 0, 1, false, 0)).evaluationGpu())
        .isEmpty();
    assertThat(Placement.processesOf(new PlacementRequest(1, 2, 1, 0, 1, 0, 1, false, 1)))
        .isEqualTo(
            new Outcome.Impossible(
                "the watcher's GPU, 1 trainer ranks, 0 reference workers and 1 rollout workers of 1"
                    + " GPUs do not fit on 1 nodes of 2 GPUs",
                "set placement.evaluation_gpus to 0, or give it 3 GPUs"));
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_anyDemand_isPlacedWithoutOverlapOrRefusedForNeed(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int tensorParallel = 1 << random.nextInt(3);
    PlacementRequest demand =
        new PlacementRequest(
            1 + random.nextInt(6),
            tensorParallel * (1 + random.nextInt(8 / tensorParallel)),
            1 + random.nextInt(20),
            random.nextInt(20),
            tensorParallel,
            random.nextInt(4),
            random.nextInt(8),
            random.nextBoolean(),
            random.nextInt(2));
    switch (Placement.processesOf(demand)) {
      case Outcome.Placed(Placement placement) -> {
        Set<List<Integer>> used = new HashSet<>();
        for (PlacedProcess process : placement.assigned()) {
          for (int gpu : process.gpus()) {
            assertThat(gpu).isBetween(0, demand.gpusPerNode() - 1);
            assertThat(process.node()).isBetween(0, demand.nodes() - 1);
            assertThat(used.add(List.of(process.node(), gpu))).isTrue();
          }
          if (process.role() instanceof ProcessRole.Rollout) {
            assertThat(process.gpus()).hasSize(tensorParallel);
            assertThat(process.gpus().getFirst() % tensorParallel).isZero();
          }
        }
        int idle = placement.idle().values().stream().mapToInt(List::size).sum();
        assertThat(used.size() + idle).isEqualTo(demand.gpus());
        long workers =
            placement.assigned().stream()
                .filter(a -> a.role() instanceof ProcessRole.Rollout)
                .count();
        if (demand.rolloutWorkers() > 0) {
          assertThat(workers).isEqualTo(demand.rolloutWorkers());
        } else {
          assertThat(idle).isLessThan(tensorParallel);
        }
        assertThat(placement.lines("a GPU each")).hasSizeGreaterThan(demand.nodes());
      }
      case Outcome.Impossible(String _, String advice) -> {
        int fixed = demand.singles();
        int blocks = Math.max(0, demand.gpus() - fixed) / tensorParallel;
        assertThat(blocks).isLessThan(Math.max(1, demand.rolloutWorkers()));
        assertThat(advice).contains("give it");
      }
    }
  }
}
