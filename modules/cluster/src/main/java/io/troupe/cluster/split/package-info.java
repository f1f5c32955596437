/** Which side of a split cluster goes on. */
@NullMarked
package io.troupe.cluster.split;

import org.jspecify.annotations.NullMarked;
