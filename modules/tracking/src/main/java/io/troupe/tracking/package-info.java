/** Sends a run to the trackers of its configuration, in a process beside the run's. */
@NullMarked
package io.troupe.tracking;

import org.jspecify.annotations.NullMarked;
