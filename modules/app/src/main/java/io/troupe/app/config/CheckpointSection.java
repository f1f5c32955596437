package io.troupe.app.config;

import io.troupe.app.config.binding.Default;
import io.troupe.app.config.binding.Doc;
import io.troupe.app.config.binding.Range;

/** What survives the process. */
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
