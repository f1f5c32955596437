/** Measurements of engines beside PyTorch. */
@NullMarked
package io.troupe.benchmarks.engine;

import org.jspecify.annotations.NullMarked;
