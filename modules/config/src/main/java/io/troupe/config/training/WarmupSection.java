package io.troupe.config.training;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;

/** Supervised steps before the first rollout, so that a random policy finds its first rewards. */
public record WarmupSection(
    @Doc(
            value =
                "Supervised steps on the training prompts' reference answers; 0 means none. The"
                    + " weights after them are v0.",
            unit = "steps")
        @Default("0")
        @Range(min = 0)
        int steps,
    @Doc(
            value =
                "Ends the warm-up early, once the mean loss of ten steps is this low: how much a"
                    + " number of steps teaches differs from seed to seed; 0 makes all steps.",
            unit = "nats a token")
        @Default("0")
        @Range(min = 0)
        double untilLoss,
    @Doc(value = "Answers in one step.", unit = "sequences")
        @Default("64")
        @Range(min = 1, max = 1_000_000)
        int batch,
    @Doc("Learning rate of AdamW, constant; its other settings are those of `training`.")
        @Default("1e-3")
        @Range(min = 0, minExclusive = true, max = 1)
        double learningRate,
    @Doc(value = "Training prompts whose answers are shown; 0 means all.", unit = "prompts")
        @Default("0")
        @Range(min = 0)
        int examples) {}
