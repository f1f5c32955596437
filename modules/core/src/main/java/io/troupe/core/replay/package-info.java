/**
 * The journal's record of a run, as needed to make the run again, and to compare it with another
 * run.
 */
@NullMarked
package io.troupe.core.replay;

import org.jspecify.annotations.NullMarked;
