/** Codes what changed in a chunk of weights between two versions. */
@NullMarked
package io.troupe.weights.delta;

import org.jspecify.annotations.NullMarked;
