/** Verifiers as a service: many at a time, each under a deadline, none able to hold up another. */
@NullMarked
package io.troupe.verifiers.pool;

import org.jspecify.annotations.NullMarked;
