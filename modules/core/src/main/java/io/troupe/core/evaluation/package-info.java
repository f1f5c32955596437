/** The results of an evaluation from its judged completions: pass@k, intervals, comparisons. */
@NullMarked
package io.troupe.core.evaluation;

import org.jspecify.annotations.NullMarked;
