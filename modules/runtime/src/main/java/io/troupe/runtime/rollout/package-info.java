/** Rollouts without actors: what a rollout worker decides, and what verdicts amount to. */
@NullMarked
package io.troupe.runtime.rollout;

import org.jspecify.annotations.NullMarked;
