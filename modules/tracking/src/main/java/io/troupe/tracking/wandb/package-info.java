/** Runs in the offline files of Weights and Biases, which {@code wandb sync} uploads. */
@NullMarked
package io.troupe.tracking.wandb;

import org.jspecify.annotations.NullMarked;
