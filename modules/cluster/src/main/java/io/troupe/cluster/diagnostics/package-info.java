/** Diagnostics of the cluster's processes, requested over the cluster. */
@NullMarked
package io.troupe.cluster.diagnostics;

import org.jspecify.annotations.NullMarked;
