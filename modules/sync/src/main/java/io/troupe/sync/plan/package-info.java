/**
 * The content of a run's folder and of its copy, and the next request that the copy needs. Pure.
 */
@NullMarked
package io.troupe.sync.plan;

import org.jspecify.annotations.NullMarked;
