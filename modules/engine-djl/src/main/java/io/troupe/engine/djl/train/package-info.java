/** Gradients, micro-batches and log-probabilities. */
@NullMarked
package io.troupe.engine.djl.train;

import org.jspecify.annotations.NullMarked;
