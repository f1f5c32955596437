/** Environments in which a policy acts during an episode, and the tools that they offer. */
@NullMarked
package io.troupe.environments;

import org.jspecify.annotations.NullMarked;
