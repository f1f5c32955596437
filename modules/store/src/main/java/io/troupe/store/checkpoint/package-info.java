/** Checkpoints: a manifest, the state, the groups that wait. */
@NullMarked
package io.troupe.store.checkpoint;

import org.jspecify.annotations.NullMarked;
