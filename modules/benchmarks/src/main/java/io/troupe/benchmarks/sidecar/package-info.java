/** Measurements of inference servers. */
@NullMarked
package io.troupe.benchmarks.sidecar;

import org.jspecify.annotations.NullMarked;
