/** The coordinator as a pure function: decide and evolve. */
@NullMarked
package io.troupe.core.run;

import org.jspecify.annotations.NullMarked;
