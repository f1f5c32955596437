/** Measurements of the control plane. */
@NullMarked
package io.troupe.benchmarks.control;

import org.jspecify.annotations.NullMarked;
