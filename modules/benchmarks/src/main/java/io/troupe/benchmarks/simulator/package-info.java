/** How near predictions of runs come to runs. */
@NullMarked
package io.troupe.benchmarks.simulator;

import org.jspecify.annotations.NullMarked;
