/** Runs as event files that a TensorBoard reads while they grow. */
@NullMarked
package io.troupe.tracking.tensorboard;

import org.jspecify.annotations.NullMarked;
