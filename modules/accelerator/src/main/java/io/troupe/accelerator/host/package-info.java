/** Collectives of ranks on CPUs: through the memory of a host, and over sockets between hosts. */
@NullMarked
package io.troupe.accelerator.host;

import org.jspecify.annotations.NullMarked;
