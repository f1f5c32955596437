package io.troupe.core.prompt;

/**
 * A question to the policy, with what a verifier needs to judge the answer.
 *
 * @param id stable across runs
 * @param text exactly what the model sees, templates applied
 * @param answer the expected answer, in the form the task's verifier compares with
 * @param solution a completion worth imitating in the supervised warm-up
 */
public record Prompt(PromptId id, String text, String answer, String solution) {}
