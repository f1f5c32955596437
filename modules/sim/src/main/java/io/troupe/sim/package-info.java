/**
 * The loop of a run in virtual time: the coordinator itself, and models of everything around it.
 */
@NullMarked
package io.troupe.sim;

import org.jspecify.annotations.NullMarked;
