@NullMarked
package io.troupe.cluster.collective;

import org.jspecify.annotations.NullMarked;
