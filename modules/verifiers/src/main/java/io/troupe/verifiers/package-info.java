/** Verifiers: the reward of a completion. */
@NullMarked
package io.troupe.verifiers;

import org.jspecify.annotations.NullMarked;
