/** Groups, leases, episodes, and the bounds on what is outstanding and on staleness. */
@NullMarked
package io.troupe.core.rollout;

import org.jspecify.annotations.NullMarked;
