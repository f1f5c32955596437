/** Measurements a user can repeat. */
@NullMarked
package io.troupe.benchmarks;

import org.jspecify.annotations.NullMarked;
