/** Evaluations beside a run: prompts sampled and judged, and the files this is kept in. */
@NullMarked
package io.troupe.evaluation;

import org.jspecify.annotations.NullMarked;
