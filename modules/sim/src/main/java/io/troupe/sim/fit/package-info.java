/** Models fitted from the journals of runs. */
@NullMarked
package io.troupe.sim.fit;

import org.jspecify.annotations.NullMarked;
