/** Durable things: the run folder, its journal, its checkpoints and its line files. */
@NullMarked
package io.troupe.store;

import org.jspecify.annotations.NullMarked;
