/** Decides which side of a split cluster continues. */
@NullMarked
package io.troupe.cluster.split;

import org.jspecify.annotations.NullMarked;
