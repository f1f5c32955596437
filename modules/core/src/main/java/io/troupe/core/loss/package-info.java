/** The loss: objectives, corrections, weights of tokens, the scalar reference. */
@NullMarked
package io.troupe.core.loss;

import org.jspecify.annotations.NullMarked;
