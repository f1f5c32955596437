/** The port of a trainer: steps, optimizer settings and outcomes. */
@NullMarked
package io.troupe.engine.train;

import org.jspecify.annotations.NullMarked;
