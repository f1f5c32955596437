package io.troupe.hosts.gpu;

import static io.troupe.core.Require.require;

import java.util.List;
import java.util.OptionalInt;

/**
 * The state of an accelerator at the time of a probe.
 *
 * @param index the driver's number
 * @param uuid identity that stays the same when indices change
 * @param memoryBytes size of its memory
 * @param usedBytes of it, the driver's own included
 * @param utilisation percent of the last moments in which something ran; none where the driver does
 *     not say
 * @param processes that the driver knows of
 */
public record Gpu(
    int index,
    String uuid,
    String name,
    long memoryBytes,
    long usedBytes,
    OptionalInt utilisation,
    List<GpuProcess> processes) {
  private static final String VIRTUAL = "virtual-";

  /**
   * A process that holds memory.
   *
   * @param name of its program, as the driver reports it
   * @param usedBytes 0 where the driver does not say
   */
  public record GpuProcess(long pid, String name, long usedBytes) {}

  public Gpu {
    require(index >= 0, "a GPU's index is 0 or greater, not %d", index);
    processes = List.copyOf(processes);
  }

  /** Returns {@code CUDA_VISIBLE_DEVICES} for a process that gets this GPU and no other. */
  public String visible() {
    // By UUID: CUDA numbers devices differently from the driver by default.
    return uuid.startsWith(VIRTUAL) ? Integer.toString(index) : uuid;
  }

  /** Returns this GPU under another number; its name keeps the driver's. */
  Gpu numbered(int number) {
    String known = number == index ? name : "%s, GPU %d of the host".formatted(name, index);
    return new Gpu(number, uuid, known, memoryBytes, usedBytes, utilisation, processes);
  }

  /** A virtual GPU of a host without accelerators. */
  static Gpu virtual(int index) {
    return new Gpu(index, VIRTUAL + index, "virtual", 0, 0, OptionalInt.empty(), List.of());
  }
}
