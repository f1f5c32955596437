/** Membership in a cluster: identity, seeds, known members and the cut-off of the transport. */
@NullMarked
package io.troupe.cluster.membership;

import org.jspecify.annotations.NullMarked;
