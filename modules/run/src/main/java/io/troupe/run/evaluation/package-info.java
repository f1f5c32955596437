/** Evaluations put together from what they evaluate and what they ask. */
@NullMarked
package io.troupe.run.evaluation;

import org.jspecify.annotations.NullMarked;
