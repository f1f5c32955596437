package io.troupe.config;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import java.time.Duration;

/** A run over many JVMs. */
public record ClusterSection(
    @Doc("Name of the cluster; processes of another name are refused.") @Default("troupe")
        String name,
    @Doc(
            "Folder with this host's keys, as `troupe certs issue` makes it. Without one, processes"
                + " on loopback have keys of their user that are made when they are first needed,"
                + " and others are refused unless --allow-plain-tcp is given. `--tls` overrides it"
                + " where the folder is another one.")
        @Default("")
        String tls,
    @Doc(
            value =
                "Rollout workers a node starts, each a JVM of its own; `troupe node --workers`"
                    + " overrides it.",
            unit = "workers")
        @Default("1")
        @Range(min = 1, max = 1024)
        int workersPerNode,
    @Doc(value = "Heap of a worker's JVM; tensors of PyTorch lie outside it.", unit = "MiB")
        @Default("512")
        @Range(min = 64, max = 1_000_000)
        int workerHeap,
    @Doc(value = "Heap of a standby, which takes over the run.", unit = "MiB")
        @Default("2048")
        @Range(min = 64, max = 1_000_000)
        int coordinatorHeap,
    @Doc(
            "How new weights reach the nodes: `transfer` sends each version once to each node, into"
                + " a cache of its own; `shared` has all workers read them from the run folder,"
                + " which then must be a file system that all hosts share.")
        @Default("transfer")
        WeightsBy weights,
    @Doc(
            value =
                "With `weights: transfer`, threads of each host that code what changed since the"
                    + " version before, and that make the next version of it; 0 means one for each"
                    + " four cores, at most 8.",
            unit = "threads")
        @Default("0")
        @Range(min = 0, max = 256)
        int deltaThreads,
    @Doc("How long a node that drains waits for the groups in flight before it ends its workers.")
        @Default("60s")
        @Range(min = 0)
        Duration drainTimeout) {
  /** The way in which new weights reach the nodes. */
  public enum WeightsBy {
    TRANSFER,
    SHARED
  }
}
