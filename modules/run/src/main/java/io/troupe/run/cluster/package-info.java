/** The parts of a run on a cluster beyond one process. */
@NullMarked
package io.troupe.run.cluster;

import org.jspecify.annotations.NullMarked;
