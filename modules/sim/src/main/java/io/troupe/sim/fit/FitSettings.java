package io.troupe.sim.fit;

/**
 * What a journal does not say of its run.
 *
 * @param run its name
 * @param policy that it trained
 * @param maxTokens the limit of its completions
 * @param promptTokens mean length of its prompts
 * @param cores that trainer and workers shared; 0 where they shared none
 * @param samplerThreads of each worker
 * @param trainerThreads of the trainer
 * @param verifySeconds median time of a verification
 */
public record FitSettings(
    String run,
    String policy,
    int maxTokens,
    double promptTokens,
    double cores,
    double samplerThreads,
    double trainerThreads,
    double verifySeconds) {}
