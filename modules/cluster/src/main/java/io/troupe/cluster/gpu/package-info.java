/** A host's accelerators: what there is, who uses it, and what may be used. */
@NullMarked
package io.troupe.cluster.gpu;

import org.jspecify.annotations.NullMarked;
