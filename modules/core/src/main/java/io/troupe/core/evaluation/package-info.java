/** What the judged completions of an evaluation amount to: pass@k, intervals, comparisons. */
@NullMarked
package io.troupe.core.evaluation;

import org.jspecify.annotations.NullMarked;
