/** Failures of infrastructure: circuit breakers, outages, restarts. */
@NullMarked
package io.troupe.core.outage;

import org.jspecify.annotations.NullMarked;
