package io.troupe.hosts.placement;

import static io.troupe.core.Require.require;

/**
 * The processes that a run places on its nodes.
 *
 * @param nodes hosts, all alike
 * @param gpusPerNode accelerators of each, real or virtual
 * @param trainerRanks processes that share the batch of a step; one GPU each
 * @param rolloutWorkers processes that sample; 0 takes as many as fit
 * @param tensorParallel GPUs over which a rollout worker splits its weights
 * @param referenceWorkers processes that compute the reference's or teacher's log-probabilities;
 *     one GPU each
 * @param verifiersPerNode processes that judge completions on each node's CPUs
 * @param coordinatorGpu whether the coordinator, which trains nothing itself, has a GPU of its own
 * @param evaluationGpus GPUs of the watcher that evaluates checkpoints as they come: 0 or 1
 */
public record PlacementRequest(
    int nodes,
    int gpusPerNode,
    int trainerRanks,
    int rolloutWorkers,
    int tensorParallel,
    int referenceWorkers,
    int verifiersPerNode,
    boolean coordinatorGpu,
    int evaluationGpus) {
  public PlacementRequest {
    require(nodes >= 1, "a placement has 1 node or more, not %d", nodes);
    require(gpusPerNode >= 1, "a node has 1 GPU or more, not %d", gpusPerNode);
    require(trainerRanks >= 1, "a run has 1 trainer rank or more, not %d", trainerRanks);
    require(rolloutWorkers >= 0, "rollout workers are 0 or more, not %d", rolloutWorkers);
    require(tensorParallel >= 1, "a rollout worker takes 1 GPU or more, not %d", tensorParallel);
    require(referenceWorkers >= 0, "reference workers are 0 or more, not %d", referenceWorkers);
    require(verifiersPerNode >= 0, "verifiers are 0 or more, not %d", verifiersPerNode);
    require(
        evaluationGpus == 0 || evaluationGpus == 1,
        "a watcher has 0 or 1 GPU, not %d",
        evaluationGpus);
  }

  int gpus() {
    return nodes * gpusPerNode;
  }

  /** Processes of one GPU each that come before the rollout workers. */
  int singles() {
    return trainerRanks + referenceWorkers + (coordinatorGpu ? 1 : 0) + evaluationGpus;
  }

  PlacementRequest withNodes(int other) {
    return new PlacementRequest(
        other,
        gpusPerNode,
        trainerRanks,
        rolloutWorkers,
        tensorParallel,
        referenceWorkers,
        verifiersPerNode,
        coordinatorGpu,
        evaluationGpus);
  }
}
