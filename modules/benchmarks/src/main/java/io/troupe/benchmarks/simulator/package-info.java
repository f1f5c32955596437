/** The distance between predictions of runs and the runs. */
@NullMarked
package io.troupe.benchmarks.simulator;

import org.jspecify.annotations.NullMarked;
