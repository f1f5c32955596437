package io.troupe.hosts.gpu;

import static io.troupe.core.Require.require;

import java.util.List;
import java.util.stream.IntStream;

/** Looks at a host's accelerators. */
@FunctionalInterface
public interface GpuProbe {
  /** Most virtual ones of a host. */
  int MAX_GPUS = 64;

  /**
   * What there is now, in index order. Blocks, for a bounded time.
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
}
