@NullMarked
package io.troupe.cluster.placement;

import org.jspecify.annotations.NullMarked;
