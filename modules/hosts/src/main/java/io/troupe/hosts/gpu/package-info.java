/** Accelerators of a host: inventory, occupants, claims. */
@NullMarked
package io.troupe.hosts.gpu;

import org.jspecify.annotations.NullMarked;
