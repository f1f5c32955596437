/**
 * Data-parallel training: the collective operations of the ranks, and the division of a step among
 * them.
 */
@NullMarked
package io.troupe.engine.parallel;

import org.jspecify.annotations.NullMarked;
