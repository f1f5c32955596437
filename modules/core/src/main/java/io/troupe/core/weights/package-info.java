/** Weight versions. */
@NullMarked
package io.troupe.core.weights;

import org.jspecify.annotations.NullMarked;
