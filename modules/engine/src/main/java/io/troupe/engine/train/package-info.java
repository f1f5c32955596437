/** The port of a trainer. */
@NullMarked
package io.troupe.engine.train;

import org.jspecify.annotations.NullMarked;
