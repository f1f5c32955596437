/** Groups, leases, and the completions that come back. */
@NullMarked
package io.troupe.core.rollout;

import org.jspecify.annotations.NullMarked;
