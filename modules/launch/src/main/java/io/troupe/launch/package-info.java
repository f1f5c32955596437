/** Commands that start, follow and end a run and its node agents on many hosts. */
@NullMarked
package io.troupe.launch;

import org.jspecify.annotations.NullMarked;
