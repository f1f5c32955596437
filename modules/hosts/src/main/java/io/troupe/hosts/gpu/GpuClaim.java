package io.troupe.hosts.gpu;

import java.util.ArrayList;
import java.util.List;

/** The result of a claim of GPUs. */
public sealed interface GpuClaim {
  /**
   * Enough GPUs are free.
   *
   * @param usable free ones, in index order
   * @param zombies to be ended first, whose accelerators are among the usable ones
   */
  record Granted(List<Gpu> usable, List<GpuOccupancy.Occupant> zombies) implements GpuClaim {}

  /** Too few GPUs are free; the reason lists the processes that use them. */
  record Refused(String reason) implements GpuClaim {}

  /**
   * Claims this many GPUs, or all free ones.
   *
   * @param wanted number of GPUs; 0 claims all free ones, and is refused if there are none
   */
  static GpuClaim of(List<Gpu> gpus, GpuOccupants occupants, int wanted) {
    List<Gpu> usable = new ArrayList<>();
    List<GpuOccupancy.Occupant> zombies = new ArrayList<>();
    List<String> taken = new ArrayList<>();
    for (Gpu gpu : gpus) {
      switch (occupants.of(gpu)) {
        case GpuOccupancy.Free() -> usable.add(gpu);
        case GpuOccupancy.Ours(var _) -> usable.add(gpu);
        case GpuOccupancy.Orphaned(var orphans) -> {
          usable.add(gpu);
          zombies.addAll(orphans);
        }
        case GpuOccupancy.Foreign(var others) ->
            others.forEach(
                other ->
                    taken.add(
                        "GPU %d (%s) is used by %s"
                            .formatted(gpu.index(), gpu.name(), other.description())));
      }
    }
    if (usable.size() >= Math.max(1, wanted)) {
      return new Granted(List.copyOf(wanted == 0 ? usable : usable.subList(0, wanted)), zombies);
    }
    return new Refused(
        "%d GPUs are wanted, and %d of this host's %d are free%s; end what others run there, or configure fewer"
            .formatted(
                Math.max(1, wanted),
                usable.size(),
                gpus.size(),
                taken.isEmpty() ? "" : ": " + String.join("; ", taken)));
  }
}
