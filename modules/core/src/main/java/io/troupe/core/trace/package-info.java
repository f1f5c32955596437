/** What a run records of itself for people to read, and how much of it may wait. */
@NullMarked
package io.troupe.core.trace;

import org.jspecify.annotations.NullMarked;
