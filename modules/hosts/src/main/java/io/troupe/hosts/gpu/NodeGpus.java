package io.troupe.hosts.gpu;

import io.troupe.base.process.ChildLedger;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The GPUs of a node, which its agent claims for workers. It probes them before every run, ends
 * processes that a former agent of this node left behind, and never claims a GPU that another
 * process uses.
 *
 * @param probe looks at them
 * @param ledger of this node's children
 * @param table of this host's processes
 * @param assignments GPUs of each worker
 */
public record NodeGpus(
    GpuProbe probe,
    ChildLedger ledger,
    GpuOccupants.ProcessTable table,
    GpuAssignments assignments) {
  private static final long DEATH_MILLIS = 10_000;
  private static final long LOOK_MILLIS = 200;

  /**
   * Claims this many GPUs, one for each worker. Blocks.
   *
   * @throws IOException if fewer are free, with the processes that use them, or if the probe fails
   */
  public List<Gpu> claim(int wanted) throws IOException {
    return claim(wanted, _ -> true);
  }

  /**
   * Claims these, and no others. Blocks.
   *
   * @throws IOException if one is not there or not free, with who is in the way; or if it cannot be
   *     known
   */
  public List<Gpu> claim(List<Integer> indices) throws IOException {
    return claim(indices.size(), gpu -> indices.contains(gpu.index()));
  }

  /**
   * Looks up these GPUs, in use or not. Blocks.
   *
   * @throws IOException if it cannot be known
   */
  public List<Gpu> require(List<Integer> indices) throws IOException {
    try {
      return probe.read().stream().filter(gpu -> indices.contains(gpu.index())).toList();
    } catch (GpuProbeException unknown) {
      throw new IOException(unknown.getMessage(), unknown);
    }
  }

  /**
   * Claims these, as CUDA_VISIBLE_DEVICES names them: by number or UUID. Blocks.
   *
   * @throws IOException as {@link #claim(List)}
   */
  public List<Gpu> claimNamed(List<String> names) throws IOException {
    return claim(
        names.size(),
        gpu -> names.contains(gpu.uuid()) || names.contains(Integer.toString(gpu.index())));
  }

  /**
   * Claims this many GPUs outside a set. Blocks.
   *
   * @throws IOException as {@link #claim(int)}
   */
  public List<Gpu> claimExcept(int wanted, List<Gpu> others) throws IOException {
    List<Integer> indices = others.stream().map(Gpu::index).toList();
    return claim(wanted, gpu -> !indices.contains(gpu.index()));
  }

  private List<Gpu> claim(int wanted, Predicate<Gpu> eligible) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEATH_MILLIS);
    try {
      while (true) {
        switch (GpuClaim.of(probe.read().stream().filter(eligible).toList(), occupants(), wanted)) {
          case GpuClaim.Granted(var usable, var zombies) -> {
            end(zombies);
            return usable;
          }
          case GpuClaim.Refused(String reason) -> {
            // Grandchildren of a killed agent end, too, and are in no ledger.
            if (!ledger.followsKilledAgent() || System.nanoTime() >= deadline) {
              throw new IOException(reason);
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
          }
        }
      }
    } catch (GpuProbeException unknown) {
      throw new IOException(unknown.getMessage(), unknown);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("stopped while waiting for a GPU");
    }
  }

  /** Returns the processes on the GPUs, and which of them belong to this node, now. */
  public GpuOccupants occupants() {
    return new GpuOccupants(
        ledger.children(), ledger.orphans(), table, GpuOccupants.DEFAULT_IDLE_BYTES);
  }

  private void end(List<GpuOccupancy.Occupant> zombies) throws IOException {
    try {
      Set<Long> pids = zombies.stream().map(GpuOccupancy.Occupant::pid).collect(Collectors.toSet());
      List<Long> left = pids.isEmpty() ? List.of() : ledger.end(pids, DEATH_MILLIS);
      if (!left.isEmpty()) {
        throw new IOException(
            "what a former agent of this node left behind does not end: pid %s; kill it, or restart the host"
                .formatted(left.stream().map(String::valueOf).collect(Collectors.joining(", "))));
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("stopped while ending left processes");
    }
  }
}
