/** The rollouts of a recorded run: what its journal, traces and stored tokens have of each. */
@NullMarked
package io.troupe.run.rollouts;

import org.jspecify.annotations.NullMarked;
