/** The accelerators of nodes that the roles of a run get. Pure. */
@NullMarked
package io.troupe.hosts.placement;

import org.jspecify.annotations.NullMarked;
