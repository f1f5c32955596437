/** Measurements of the console and the telemetry. */
@NullMarked
package io.troupe.benchmarks.console;

import org.jspecify.annotations.NullMarked;
