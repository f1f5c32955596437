/** The trainer and the scorer: micro-batches, gradient accumulation and log-probabilities. */
@NullMarked
package io.troupe.engine.djl.train;

import org.jspecify.annotations.NullMarked;
