package io.troupe.app.config;

import io.troupe.app.config.binding.Default;
import io.troupe.app.config.binding.Doc;
import io.troupe.app.config.binding.Range;
import java.nio.file.Path;
import java.time.Duration;

/** The run as a whole. */
public record RunSection(
    @Doc("Of weights, prompt order, held-out split and sampling: the source of all randomness.")
        @Default("1")
        long seed,
    @Doc("Folder that gets one folder a run; a relative path starts from the working directory.")
        @Default("runs")
        Path folder,
    @Doc("How long ^C or SIGTERM waits for the groups in flight before it gives them back.")
        @Default("20s")
        @Range(min = 0)
        Duration drainTimeout) {}
