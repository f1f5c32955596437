/** Who is a member: joining, identity, seeds, settings of the actor system. */
@NullMarked
package io.troupe.cluster.membership;

import org.jspecify.annotations.NullMarked;
