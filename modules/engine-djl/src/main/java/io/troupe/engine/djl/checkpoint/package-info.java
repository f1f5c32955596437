/** Checkpoints of Hugging Face models and of runs. */
@NullMarked
package io.troupe.engine.djl.checkpoint;

import org.jspecify.annotations.NullMarked;
