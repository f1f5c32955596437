/** The way of weights from the trainer to the workers of a process. */
@NullMarked
package io.troupe.runtime.weights;

import org.jspecify.annotations.NullMarked;
