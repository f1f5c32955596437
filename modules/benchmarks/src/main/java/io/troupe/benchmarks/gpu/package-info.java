/** {@code troupe bench gpu}: rows of measurements on a GPU, or their rehearsal on the CPU. */
@NullMarked
package io.troupe.benchmarks.gpu;

import org.jspecify.annotations.NullMarked;
