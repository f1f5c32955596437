package io.troupe.hosts.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ChildLedger;
import io.troupe.base.process.ProcessIdentity;
import io.troupe.hosts.gpu.GpuOccupancy.Occupant;
import io.troupe.testkit.Await;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GpuClaimTest {
  private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");
  private static final ProcessIdentity CHILD = new ProcessIdentity(10, START);
  private static final ProcessIdentity ORPHAN = new ProcessIdentity(20, START);
  private static final Map<Long, GpuOccupants.KnownProcess> TABLE =
      Map.of(
          10L, new GpuOccupants.KnownProcess(CHILD, "troupe"),
          20L, new GpuOccupants.KnownProcess(ORPHAN, "troupe"),
          30L, new GpuOccupants.KnownProcess(new ProcessIdentity(30, START), "bob"));
  private static final GpuOccupants OCCUPANTS =
      new GpuOccupants(
          Set.of(CHILD),
          Set.of(ORPHAN, new ProcessIdentity(30, START.minusSeconds(60))),
          pid -> Optional.ofNullable(TABLE.get(pid)),
          1L << 30);

  @TempDir Path folder;

  private static Gpu gpu(int index, int utilisation, long used, long... pids) {
    return new Gpu(
        index,
        "GPU-" + index,
        "H200",
        1L << 37,
        used,
        OptionalInt.of(utilisation),
        java.util.Arrays.stream(pids)
            .mapToObj(pid -> new Gpu.GpuProcess(pid, "python", 1L << 30))
            .toList());
  }

  @Test
  void of_eachKindOfHolder_isTold() {
    assertThat(OCCUPANTS.of(gpu(0, 0, 1 << 20))).isEqualTo(new GpuOccupancy.Free());
    assertThat(OCCUPANTS.of(gpu(0, 90, 1 << 30, 10))).isInstanceOf(GpuOccupancy.Ours.class);
    assertThat(OCCUPANTS.of(gpu(0, 0, 1 << 30, 20)))
        .isEqualTo(
            new GpuOccupancy.Orphaned(
                List.of(
                    new Occupant(
                        20, "pid 20 python (troupe), 1,024 MiB, left by a former agent"))));
    assertThat(OCCUPANTS.of(gpu(0, 50, 1 << 30, 20))).isInstanceOf(GpuOccupancy.Foreign.class);
    assertThat(OCCUPANTS.of(gpu(0, 0, 1 << 30, 10, 30))).isInstanceOf(GpuOccupancy.Foreign.class);
    assertThat(OCCUPANTS.of(gpu(0, 0, 1 << 30, 99)))
        .isEqualTo(
            new GpuOccupancy.Foreign(
                List.of(new Occupant(99, "pid 99 python (not visible here), 1,024 MiB"))));
    assertThat(OCCUPANTS.of(gpu(0, 0, 8L << 30))).isInstanceOf(GpuOccupancy.Foreign.class);
  }

  /** The pid 30 is in the ledger, but it is another process now. */
  @Test
  void of_reusedPid_isForeign() {
    assertThat(OCCUPANTS.of(gpu(0, 0, 1 << 30, 30))).isInstanceOf(GpuOccupancy.Foreign.class);
  }

  @Test
  void of_foreignInTheWay_refusesWithTheOccupants() {
    List<Gpu> gpus = List.of(gpu(0, 0, 0), gpu(1, 99, 1 << 30, 30), gpu(2, 0, 1 << 30, 20));
    assertThat(GpuClaim.of(gpus, OCCUPANTS, 3))
        .isEqualTo(
            new GpuClaim.Refused(
                "3 GPUs are wanted, and 2 of this host's 3 are free: GPU 1 (H200) is used by pid 30"
                    + " python (bob), 1,024 MiB; end what others run there, or configure fewer"));
    GpuClaim.Granted granted = (GpuClaim.Granted) GpuClaim.of(gpus, OCCUPANTS, 2);
    assertThat(granted.usable()).extracting(Gpu::index).containsExactly(0, 2);
    assertThat(granted.zombies()).extracting(Occupant::pid).containsExactly(20L);
  }

  @Test
  void end_orphanOfAFormerAgent_isEndedAndAStrangerIsNot() throws Exception {
    Process orphan = new ProcessBuilder("sleep", "3600").start();
    Process stranger = new ProcessBuilder("sleep", "3600").start();
    try {
      ChildLedger former = ChildLedger.open(folder.resolve("children.pids"));
      former.started(orphan.toHandle());
      ChildLedger ledger = ChildLedger.open(folder.resolve("children.pids"));
      assertThat(ledger.orphans()).extracting(ProcessIdentity::pid).containsExactly(orphan.pid());
      List<Long> left = ledger.end(Set.of(orphan.pid(), stranger.pid()), 60_000);
      assertThat(left).isEmpty();
      assertThat(orphan.waitFor()).isNotZero();
      assertThat(stranger.isAlive()).isTrue();
      assertThat(ledger.orphans()).isEmpty();
    } finally {
      orphan.destroyForcibly();
      stranger.destroyForcibly();
    }
  }

  /** A process whose parent becomes a program that waits for no child. */
  @Test
  void end_orphanThatNobodyWaitsFor_isEndedWhenItIsAZombie() throws Exception {
    Process parent = new ProcessBuilder("sh", "-c", "sleep 3600 & exec sleep 3600").start();
    try {
      ProcessHandle orphan = Await.found("a child", () -> parent.children().findAny());
      ChildLedger.open(folder.resolve("children.pids")).started(orphan);
      ChildLedger ledger = ChildLedger.open(folder.resolve("children.pids"));
      assertThat(ledger.end(Set.of(orphan.pid()), 60_000)).isEmpty();
      assertThat(ledger.orphans()).isEmpty();
    } finally {
      parent.children().forEach(ProcessHandle::destroyForcibly);
      parent.destroyForcibly();
    }
  }

  @Test
  void open_ledgerOfChildrenThatEnded_forgetsThem() throws Exception {
    Process child = new ProcessBuilder("true").start();
    ChildLedger former = ChildLedger.open(folder.resolve("children.pids"));
    former.started(child.toHandle());
    child.waitFor();
    assertThat(ChildLedger.open(folder.resolve("children.pids")).orphans()).isEmpty();
  }
}
