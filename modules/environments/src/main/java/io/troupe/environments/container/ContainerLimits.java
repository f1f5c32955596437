package io.troupe.environments.container;

import static io.troupe.core.Require.require;

import java.util.List;
import java.util.Locale;

/**
 * The limits of a container.
 *
 * @param cpus CPU time a second, in seconds
 * @param memoryBytes of all its processes; it has no swap
 * @param processes processes and threads at once
 */
public record ContainerLimits(double cpus, long memoryBytes, int processes) {
  public ContainerLimits {
    require(cpus > 0, "a container has CPUs, not %s", cpus);
    require(memoryBytes >= 6 << 20, "a container has 6 MB at least, not %d bytes", memoryBytes);
    require(processes >= 4, "a container needs 4 processes at least, not %d", processes);
  }

  List<String> options() {
    String memory = Long.toString(memoryBytes);
    return List.of(
        "--cpus",
        String.format(Locale.ROOT, "%.2f", cpus),
        "--memory",
        memory,
        "--memory-swap",
        memory,
        "--pids-limit",
        Integer.toString(processes),
        "--ulimit",
        "nofile=1024:1024",
        "--ulimit",
        "nproc=4096:4096",
        "--ulimit",
        "core=0:0");
  }
}
