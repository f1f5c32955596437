/**
 * Publishers and sources of weights for a cluster: through a shared folder, or once to each node
 * over the network.
 */
@NullMarked
package io.troupe.cluster.weights;

import org.jspecify.annotations.NullMarked;
