/** Staleness: its bound, and what happens beyond it. */
@NullMarked
package io.troupe.core.buffer;

import org.jspecify.annotations.NullMarked;
