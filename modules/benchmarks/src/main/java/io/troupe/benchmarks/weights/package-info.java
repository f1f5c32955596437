/** Measurements of weight transfer. */
@NullMarked
package io.troupe.benchmarks.weights;

import org.jspecify.annotations.NullMarked;
