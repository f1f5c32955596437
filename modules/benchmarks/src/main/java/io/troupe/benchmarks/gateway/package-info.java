/** What the gateway of agents costs. */
@NullMarked
package io.troupe.benchmarks.gateway;

import org.jspecify.annotations.NullMarked;
