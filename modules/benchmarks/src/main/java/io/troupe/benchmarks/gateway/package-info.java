/** The cost of the gateway of agents. */
@NullMarked
package io.troupe.benchmarks.gateway;

import org.jspecify.annotations.NullMarked;
