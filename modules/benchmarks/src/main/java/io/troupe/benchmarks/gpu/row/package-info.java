/** Rows of measurements, what they measure and what they found. */
@NullMarked
package io.troupe.benchmarks.gpu.row;

import org.jspecify.annotations.NullMarked;
