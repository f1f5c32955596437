/** Checkpoints: reading models of Hugging Face, saving and restoring trainers. */
@NullMarked
package io.troupe.engine.djl.checkpoint;

import org.jspecify.annotations.NullMarked;
