/** The loop over many JVMs: node agents, their children, and the settings of the cluster. */
@NullMarked
package io.troupe.cluster;

import org.jspecify.annotations.NullMarked;
