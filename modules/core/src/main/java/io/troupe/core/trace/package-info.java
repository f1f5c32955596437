/** The records of a run for people to read, and the bound on the lines that may wait. */
@NullMarked
package io.troupe.core.trace;

import org.jspecify.annotations.NullMarked;
