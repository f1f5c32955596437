/** Which role of a run gets which accelerator of which node. Pure. */
@NullMarked
package io.troupe.hosts.placement;

import org.jspecify.annotations.NullMarked;
