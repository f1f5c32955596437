/** What a run on a cluster needs beyond one process. */
@NullMarked
package io.troupe.run.cluster;

import org.jspecify.annotations.NullMarked;
