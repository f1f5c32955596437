package io.troupe.hosts.gpu;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Looks at a host's accelerators. */
@FunctionalInterface
public interface GpuProbe {
  /** Most virtual ones of a host. */
  int MAX_GPUS = 64;

  /**
   * Returns the present GPUs, in index order. Blocks, for a bounded time.
   *
   * @throws GpuProbeException if that cannot be known
   */
  List<Gpu> read() throws GpuProbeException;

  /** Virtual GPUs for a host without accelerators, used by no process. */
  static GpuProbe virtual(int count) {
    require(
        count >= 0 && count <= MAX_GPUS, "gpus.virtual lies in [0, %d], not %d", MAX_GPUS, count);
    List<Gpu> all = IntStream.range(0, count).mapToObj(Gpu::virtual).toList();
    return () -> all;
  }

  /**
   * Some of a host's, numbered from 0 in the given order: a placement counts those that a run was
   * given.
   *
   * @param numbers the driver's
   */
  static GpuProbe some(GpuProbe all, List<Integer> numbers) {
    return () -> {
      List<Gpu> there = all.read();
      List<Gpu> chosen = new ArrayList<>();
      for (int number : numbers) {
        Gpu gpu =
            there.stream()
                .filter(each -> each.index() == number)
                .findFirst()
                .orElseThrow(
                    () ->
                        new GpuProbeException(
                            "GPU %d is not there; this host has %s"
                                .formatted(
                                    number,
                                    there.isEmpty()
                                        ? "none"
                                        : "GPUs 0 to " + there.getLast().index())));
        chosen.add(gpu.numbered(chosen.size()));
      }
      return List.copyOf(chosen);
    };
  }
}
