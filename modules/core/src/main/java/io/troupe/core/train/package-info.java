/** The losses, their token weights, and the scalar reference of both. */
@NullMarked
package io.troupe.core.train;

import org.jspecify.annotations.NullMarked;
