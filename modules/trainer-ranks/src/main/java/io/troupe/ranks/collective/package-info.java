/** What trainer ranks exchange: through the memory of a host, and over sockets between hosts. */
@NullMarked
package io.troupe.ranks.collective;

import org.jspecify.annotations.NullMarked;
