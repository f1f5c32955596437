/** A training step: its batch, its loss, and what is counted of both. */
@NullMarked
package io.troupe.core.train;

import org.jspecify.annotations.NullMarked;
