/**
 * The processes of a run over many JVMs: the coordinator's guardian, the node registry, node agents
 * and worker hosts.
 */
@NullMarked
package io.troupe.cluster;

import org.jspecify.annotations.NullMarked;
