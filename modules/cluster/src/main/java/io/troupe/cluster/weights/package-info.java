/**
 * How weights travel: a published version is a directory, sent once to each node over plain
 * sockets, and mapped there by every worker.
 */
@NullMarked
package io.troupe.cluster.weights;

import org.jspecify.annotations.NullMarked;
