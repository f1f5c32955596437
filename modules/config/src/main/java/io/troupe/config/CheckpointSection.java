package io.troupe.config;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;

/** The parts of a run that survive its process. */
public record CheckpointSection(
    @Doc(
            value = "Steps between checkpoints; 0 means only at the end and on interruption.",
            unit = "steps")
        @Default("50")
        @Range(min = 0)
        int every,
    @Doc(value = "Newest checkpoints that are kept.", unit = "checkpoints")
        @Default("2")
        @Range(min = 1, max = 1_000_000)
        int keep) {}
