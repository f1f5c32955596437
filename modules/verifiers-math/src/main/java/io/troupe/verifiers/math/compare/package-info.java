/** Comparison of written answers by their meaning. */
@NullMarked
package io.troupe.verifiers.math.compare;

import org.jspecify.annotations.NullMarked;
