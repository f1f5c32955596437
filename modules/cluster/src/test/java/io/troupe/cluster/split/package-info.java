@NullMarked
package io.troupe.cluster.split;

import org.jspecify.annotations.NullMarked;
