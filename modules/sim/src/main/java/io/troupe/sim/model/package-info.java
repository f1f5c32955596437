/** Models of latencies, lengths and failures, as numbers of one run or one cluster. */
@NullMarked
package io.troupe.sim.model;

import org.jspecify.annotations.NullMarked;
