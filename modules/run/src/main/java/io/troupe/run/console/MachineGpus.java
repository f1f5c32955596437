package io.troupe.run.console;

import io.troupe.base.process.ProcessIdentity;
import io.troupe.console.process.JvmReport;
import io.troupe.hosts.gpu.Gpu;
import io.troupe.hosts.gpu.GpuOccupancy;
import io.troupe.hosts.gpu.GpuOccupants;
import io.troupe.hosts.gpu.GpuProbe;
import io.troupe.hosts.gpu.GpuProbeException;
import io.troupe.hosts.gpu.NvidiaSmi;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The accelerators of a machine, as the console shows them: whose they are, and whether they work.
 * The driver is asked at most once in five seconds, and only for a request.
 */
public final class MachineGpus implements Supplier<List<JvmReport.GpuReport>> {
  private static final long FRESH_NANOS = 5_000_000_000L;
  private static final Duration DEADLINE = Duration.ofSeconds(4);
  private static final String VIRTUAL = "virtual";

  /** Returns which process has an accelerator, at this moment. */
  @FunctionalInterface
  public interface Owners {
    /** Returns the processes on the GPUs, and which of them belong to the run. */
    GpuOccupants now();
  }

  private final GpuProbe probe;
  private final Owners owners;
  private final Supplier<Map<String, String>> claims;
  private List<JvmReport.GpuReport> seen = List.of();
  private long seenAt = Long.MIN_VALUE;

  /**
   * The GPUs that a probe sees.
   *
   * @param claims owner of each of our GPUs, by UUID
   */
  public MachineGpus(GpuProbe probe, Owners owners, Supplier<Map<String, String>> claims) {
    this.probe = probe;
    this.owners = owners;
    this.claims = claims;
  }

  /** The GPUs of the machine of a run in one process, if the driver is installed. */
  static Supplier<List<JvmReport.GpuReport>> ofThisProcess() {
    if (!NvidiaSmi.installed()) {
      return List::of;
    }
    return new MachineGpus(
        new NvidiaSmi(List.of(NvidiaSmi.COMMAND), DEADLINE),
        () ->
            new GpuOccupants(
                family(),
                Set.of(),
                GpuOccupants.ProcessTable.ofHost(),
                GpuOccupants.DEFAULT_IDLE_BYTES),
        Map::of);
  }

  /** This process and those it has started. */
  private static Set<ProcessIdentity> family() {
    Set<ProcessIdentity> family = new HashSet<>();
    ProcessIdentity.of(ProcessHandle.current()).ifPresent(family::add);
    ProcessHandle.current()
        .descendants()
        .forEach(child -> ProcessIdentity.of(child).ifPresent(family::add));
    return family;
  }

  @Override
  public synchronized List<JvmReport.GpuReport> get() {
    long now = System.nanoTime();
    if (seenAt == Long.MIN_VALUE || now - seenAt > FRESH_NANOS) {
      seenAt = now;
      seen = look();
    }
    return seen;
  }

  private List<JvmReport.GpuReport> look() {
    try {
      GpuOccupants occupants = owners.now();
      Map<String, String> ours = claims.get();
      return probe.read().stream()
          .map(gpu -> row(gpu, occupants.of(gpu), Optional.ofNullable(ours.get(gpu.uuid()))))
          .toList();
    } catch (GpuProbeException unknown) {
      return List.of(
          new JvmReport.GpuReport(
              0, String.valueOf(unknown.getMessage()), 0, 0, -1, "unknown", ""));
    }
  }

  static JvmReport.GpuReport row(Gpu gpu, GpuOccupancy occupancy, Optional<String> claimed) {
    boolean virtual = gpu.name().equals(VIRTUAL);
    String state =
        switch (occupancy) {
          case GpuOccupancy.Foreign _ -> "foreign";
          case GpuOccupancy.Orphaned _ -> "zombie";
          case GpuOccupancy.Ours _ -> working(gpu);
          case GpuOccupancy.Free _ -> claimed.isEmpty() ? "free" : virtual ? VIRTUAL : working(gpu);
        };
    String whose =
        switch (occupancy) {
          case GpuOccupancy.Foreign(var others) -> words(others);
          case GpuOccupancy.Orphaned(var orphans) -> words(orphans);
          case GpuOccupancy.Ours(var children) -> claimed.orElseGet(() -> words(children));
          case GpuOccupancy.Free _ -> claimed.orElse("");
        };
    return new JvmReport.GpuReport(
        gpu.index(),
        gpu.name(),
        gpu.memoryBytes(),
        gpu.usedBytes(),
        gpu.utilisation().orElse(-1),
        state,
        whose);
  }

  private static String working(Gpu gpu) {
    return gpu.utilisation().orElse(1) == 0 ? "idle" : "ours";
  }

  private static String words(List<GpuOccupancy.Occupant> occupants) {
    return occupants.stream()
        .map(GpuOccupancy.Occupant::description)
        .collect(Collectors.joining("; "));
  }
}
