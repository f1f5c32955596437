package io.troupe.app.config;

import io.troupe.app.config.binding.Default;
import io.troupe.app.config.binding.Doc;
import io.troupe.app.config.binding.Range;
import java.time.Duration;

/** The pool that scores completions. */
public record VerifierSection(
    @Doc(value = "Completions verified at a time.", unit = "workers")
        @Default("2")
        @Range(min = 1, max = 1024)
        int workers,
    @Doc("A verification that takes longer is stopped, and its completion is unverifiable.")
        @Default("5s")
        @Range(min = 0.001)
        Duration timeout) {}
