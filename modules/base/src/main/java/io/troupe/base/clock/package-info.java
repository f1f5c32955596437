/** Time of a process, and the pauses it makes. */
@NullMarked
package io.troupe.base.clock;

import org.jspecify.annotations.NullMarked;
