package io.troupe.config;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;

/** Greedy answers to held-out prompts. */
public record EvaluationSection(
    @Doc(
            value = "Steps between evaluations, the first before step 1; 0 means never.",
            unit = "steps")
        @Default("10")
        @Range(min = 0)
        int every,
    @Doc(value = "Most held-out prompts of an evaluation, always the same.", unit = "prompts")
        @Default("500")
        @Range(min = 1)
        int prompts,
    @Doc(
            "The run is complete once an evaluation after step 0 reaches this, whatever"
                + " training.steps says: a share of answers that pass, or a mean reward, as"
                + " `target_of` says; 0 means that it makes all steps.")
        @Default("0")
        double target,
    @Doc(
            "What `target` is of: `held_out`, the share of answers of this section's evaluation"
                + " that pass, or the name of one under `evaluations`; `reward` or `NAME_reward`,"
                + " the mean reward of these answers.")
        @Default("held_out")
        String targetOf,
    @Doc(value = "Most tokens of an answer; 0 means rollout.max_tokens.", unit = "tokens")
        @Default("0")
        @Range(min = 0, max = 1_000_000)
        int maxTokens,
    @Doc(
            value =
                "With placement.evaluation_gpus: the watcher evaluates checkpoints whose step is a"
                    + " multiple of this.",
            unit = "steps")
        @Default("1")
        @Range(min = 1)
        int watchEvery,
    @Doc(
            "With placement.evaluation_gpus: the file of tasks that the watcher asks, as `troupe"
                + " eval` reads it; without one it makes the run's own evaluations.")
        @Default("")
        String watchFile) {}
