/**
 * The audit of a run: invariants S1 and S2 checked on its events alone, by an account of its own
 * that share no code with the fold that made them.
 */
@NullMarked
package io.troupe.core.audit;

import org.jspecify.annotations.NullMarked;
