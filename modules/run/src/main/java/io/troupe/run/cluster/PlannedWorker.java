package io.troupe.run.cluster;

import io.troupe.config.RunConfig;
import io.troupe.config.rollout.SidecarsSection;
import io.troupe.hosts.placement.NodeAssignment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A rollout worker that a node starts.
 *
 * @param name unique in the cluster
 * @param drivesServer whether an inference server of its own samples for it, and not its own engine
 * @param gpus number of GPUs of the worker; the first of its placement, or any
 */
record PlannedWorker(String name, boolean drivesServer, int gpus) {
  /**
   * The workers of a node. Where {@code rollout.workers} is 0 each drives a server; else engines
   * come first, and {@code rollout.sidecars.count} servers after them.
   *
   * @param asked number of workers that the node's operator wants; as the placement says when
   *     empty, or the configuration
   */
  static List<PlannedWorker> of(
      String node, RunConfig config, NodeAssignment share, Optional<Integer> asked) {
    int servers = config.rollout().sidecars().count();
    boolean serversOnly = config.rollout().workers() == 0;
    int engines = serversOnly ? 0 : config.cluster().workersPerNode();
    int all = asked.orElse(share.placed() ? share.workers().size() : engines + servers);
    int driving = serversOnly ? all : Math.min(servers, all);
    List<PlannedWorker> workers = new ArrayList<>();
    for (int i = 1; i <= all; i++) {
      boolean drives = i > all - driving;
      workers.add(
          new PlannedWorker(node + "-w" + i, drives, drives ? serverGpus(config) : gpus(config)));
    }
    return workers;
  }

  private static int gpus(RunConfig config) {
    return config.policy().wantsGpu() ? 1 : 0;
  }

  private static int serverGpus(RunConfig config) {
    SidecarsSection sidecars = config.rollout().sidecars();
    return switch (sidecars.server()) {
      case VLLM, SGLANG -> sidecars.tensorParallel();
      case TROUPE -> gpus(config);
      case COMMAND -> config.policy().wantsGpu() ? sidecars.tensorParallel() : 0;
    };
  }
}
