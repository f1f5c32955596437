/** Episodes in a rollout worker: turns of the policy, and the tools between them. */
@NullMarked
package io.troupe.runtime.episode;

import org.jspecify.annotations.NullMarked;
