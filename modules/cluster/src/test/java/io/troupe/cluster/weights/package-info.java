@NullMarked
package io.troupe.cluster.weights;

import org.jspecify.annotations.NullMarked;
