package io.troupe.cluster.split;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cluster.split.SimulatedPartition.Peer;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The split rule in whole lives of clusters: crashes, cuts of the network, and both at once. */
final class SplitScheduleTest {
  private static final int SEEDS = 200;

  /** Longer than detection, agreement and the patience for the lease together. */
  private static final int SETTLED = 120;

  @Test
  void anySchedule_crashesAndCuts_neverTwoCoordinators() {
    for (long seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      SimulatedPartition world = SimulatedPartition.hosts(2 + random.nextInt(4), random);
      for (int tick = 0; tick < 400; tick++) {
        disturb(world, random);
        world.tick();
        assertThat(world.coordinators())
            .as("seed %d, tick %d: %s", seed, tick, world)
            .hasSizeLessThan(2);
        assertThat(world.removedWithoutLease()).as("seed %d, tick %d", seed, tick).isFalse();
      }
    }
  }

  private static void disturb(SimulatedPartition world, Random random) {
    int hosts = world.hosts();
    switch (random.nextInt(60)) {
      case 0 -> world.crashHost(random.nextInt(hosts));
      case 1 -> {
        world.crashHost(random.nextInt(hosts));
        world.crashHost(random.nextInt(hosts));
      }
      case 2 -> world.crash(random.nextInt(world.processes().size()));
      case 3, 4 ->
          world.cut(IntStream.range(0, hosts).map(_ -> random.nextInt(2)).boxed().toList());
      case 5, 6 -> world.heal();
      default -> {}
    }
  }

  /**
   * Two of three hosts die at once, or the second within the time that the first one's loss takes.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 5, 8, 13})
  void twoOfThreeHostsDie_theThirdGoesOn(int ticksBetween) {
    for (int host = 0; host < 3; host++) {
      int survivor = host;
      for (long seed = 0; seed < 20; seed++) {
        SimulatedPartition world = SimulatedPartition.hosts(3, new Random(seed));
        world.crashHost((survivor + 1) % 3);
        run(world, ticksBetween);
        world.crashHost((survivor + 2) % 3);
        run(world, SETTLED);
        assertThat(world.coordinators())
            .as("seed %d, survivor %d: %s", seed, survivor, world)
            .singleElement()
            .extracting(Peer::host)
            .isEqualTo(survivor);
        assertThat(world.processes())
            .as("seed %d, survivor %d", seed, survivor)
            .filteredOn(one -> one.host() == survivor)
            .allMatch(Peer::alive);
      }
    }
  }

  @Test
  void networkCut_theSideWithTheCoordinatorGoesOnAndTheOtherStops() {
    for (long seed = 0; seed < SEEDS; seed++) {
      Random random = new Random(seed);
      SimulatedPartition world = SimulatedPartition.hosts(3, random);
      List<Integer> sides = List.of(0, random.nextInt(2), random.nextInt(2));
      world.cut(sides);
      run(world, SETTLED);
      assertThat(world.coordinators())
          .as("seed %d", seed)
          .singleElement()
          .extracting(Peer::host)
          .isEqualTo(0);
      assertThat(world.processes())
          .as("seed %d, sides %s", seed, sides)
          .allMatch(one -> one.alive() == (sides.get(one.host()) == 0));
    }
  }

  /** The coordinator dies while the network is cut: the two others must not both succeed it. */
  @Test
  void coordinatorDiesWhileTheOthersAreCut_oneOfThemContinues() {
    for (long seed = 0; seed < SEEDS; seed++) {
      SimulatedPartition world = SimulatedPartition.hosts(3, new Random(seed));
      world.cut(List.of(0, 1, 2));
      world.crashHost(0);
      run(world, SETTLED);
      assertThat(world.coordinators()).as("seed %d: %s", seed, world).hasSize(1);
    }
  }

  private static void run(SimulatedPartition world, int ticks) {
    for (int i = 0; i < ticks; i++) {
      world.tick();
    }
  }
}
