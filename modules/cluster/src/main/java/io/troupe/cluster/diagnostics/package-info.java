/** Stacks, heaps and logs of a process, asked for over the cluster. */
@NullMarked
package io.troupe.cluster.diagnostics;

import org.jspecify.annotations.NullMarked;
