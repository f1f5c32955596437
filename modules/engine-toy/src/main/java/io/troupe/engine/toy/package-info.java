/** A policy small enough to read in one sitting, which truly learns; for tests and simulation. */
@NullMarked
package io.troupe.engine.toy;

import org.jspecify.annotations.NullMarked;
