@NullMarked
package io.troupe.cluster.gpu;

import org.jspecify.annotations.NullMarked;
