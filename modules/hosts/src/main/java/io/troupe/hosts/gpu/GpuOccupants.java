package io.troupe.hosts.gpu;

import io.troupe.base.process.ProcessIdentity;
import io.troupe.hosts.gpu.GpuOccupancy.Occupant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Determines which processes use a GPU. Only two kinds of process are ours: children of this agent,
 * and those that the ledger of a former agent of this node names with their start time. Everything
 * else is foreign, also what cannot be identified, because it runs in another container or under
 * another user.
 *
 * @param children of this agent
 * @param orphans of former agents of this node
 * @param table of this host's processes
 * @param idleBytes that an idle accelerator may show as used: the driver's own
 */
public record GpuOccupants(
    Set<ProcessIdentity> children,
    Set<ProcessIdentity> orphans,
    ProcessTable table,
    long idleBytes) {
  /** The memory that a driver with persistence takes, and some more. */
  public static final long DEFAULT_IDLE_BYTES = 1L << 30;

  private static final double MIB = 1 << 20;

  /** Looks up processes. */
  @FunctionalInterface
  public interface ProcessTable {
    /** A process, if this agent can see it. */
    Optional<KnownProcess> find(long pid);

    /** This host's. */
    static ProcessTable ofHost() {
      return pid ->
          ProcessHandle.of(pid)
              .flatMap(
                  process ->
                      ProcessIdentity.of(process)
                          .map(
                              identity ->
                                  new KnownProcess(
                                      identity, process.info().user().orElse("unknown user"))));
    }
  }

  /** A process of this host. */
  public record KnownProcess(ProcessIdentity identity, String user) {}

  public GpuOccupants {
    children = Set.copyOf(children);
    orphans = Set.copyOf(orphans);
  }

  /** Returns the processes that use a GPU. */
  public GpuOccupancy of(Gpu gpu) {
    List<Occupant> ours = new ArrayList<>();
    List<Occupant> left = new ArrayList<>();
    List<Occupant> others = new ArrayList<>();
    boolean busy = gpu.utilisation().orElse(0) > 0;
    for (Gpu.GpuProcess holder : gpu.processes()) {
      Optional<KnownProcess> seen = table.find(holder.pid());
      Optional<ProcessIdentity> identity = seen.map(KnownProcess::identity);
      if (identity.filter(children::contains).isPresent()) {
        ours.add(occupant(holder, seen, ""));
      } else if (identity.filter(orphans::contains).isPresent()) {
        if (busy) {
          others.add(occupant(holder, seen, ", left by a former agent and still computing"));
        } else {
          left.add(occupant(holder, seen, ", left by a former agent"));
        }
      } else {
        others.add(occupant(holder, seen, ""));
      }
    }
    if (gpu.processes().isEmpty() && gpu.usedBytes() > idleBytes) {
      others.add(new Occupant(0, "a process that cannot be seen, " + memory(gpu.usedBytes())));
    }
    if (!others.isEmpty()) {
      return new GpuOccupancy.Foreign(others);
    }
    if (!ours.isEmpty()) {
      return new GpuOccupancy.Ours(ours);
    }
    return left.isEmpty() ? new GpuOccupancy.Free() : new GpuOccupancy.Orphaned(left);
  }

  private static Occupant occupant(
      Gpu.GpuProcess holder, Optional<KnownProcess> seen, String note) {
    return new Occupant(
        holder.pid(),
        "pid %d %s (%s), %s%s"
            .formatted(
                holder.pid(),
                holder.name(),
                seen.map(KnownProcess::user).orElse("not visible here"),
                memory(holder.usedBytes()),
                note));
  }

  private static String memory(long bytes) {
    return bytes == 0 ? "memory unknown" : String.format(Locale.ROOT, "%,.0f MiB", bytes / MIB);
  }
}
