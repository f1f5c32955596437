package io.troupe.sim.fit;

import io.troupe.sim.model.ClusterShape.CpuShape;

/**
 * The facts of a run that its journal does not hold.
 *
 * @param run name of the run
 * @param policy that it trained
 * @param maxTokens the limit of its completions
 * @param promptTokens mean length of its prompts
 * @param cpu that trainer and workers shared, background threads left out
 * @param computingThreads that the process kept busy on average between the ends of its steps, by
 *     its CPU time; 0 where that was not recorded
 * @param verifySeconds median time of a verification
 */
public record FitSettings(
    String run,
    String policy,
    int maxTokens,
    double promptTokens,
    CpuShape cpu,
    double computingThreads,
    double verifySeconds) {}
