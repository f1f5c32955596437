/** Supervised runs: what `troupe sft` does, from its configuration to its checkpoints. */
@NullMarked
package io.troupe.run.supervised;

import org.jspecify.annotations.NullMarked;
