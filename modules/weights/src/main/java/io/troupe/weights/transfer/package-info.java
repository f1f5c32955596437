/** Weight versions sent between hosts, relayed and resumed. */
@NullMarked
package io.troupe.weights.transfer;

import org.jspecify.annotations.NullMarked;
