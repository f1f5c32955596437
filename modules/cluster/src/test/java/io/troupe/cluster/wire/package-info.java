@NullMarked
package io.troupe.cluster.wire;

import org.jspecify.annotations.NullMarked;
