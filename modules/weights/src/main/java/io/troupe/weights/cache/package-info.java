/** Weight versions in a node's cache: manifests, chunks, digests. */
@NullMarked
package io.troupe.weights.cache;

import org.jspecify.annotations.NullMarked;
