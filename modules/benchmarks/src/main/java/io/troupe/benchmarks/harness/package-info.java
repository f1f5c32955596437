/** Repeated and paired measurements, and their reports. */
@NullMarked
package io.troupe.benchmarks.harness;

import org.jspecify.annotations.NullMarked;
