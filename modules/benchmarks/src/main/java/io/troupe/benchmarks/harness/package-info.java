/** How a measurement is repeated, paired and reported. */
@NullMarked
package io.troupe.benchmarks.harness;

import org.jspecify.annotations.NullMarked;
