/** Forks of runs, which part from their parent behind a step, and where two runs part. */
@NullMarked
package io.troupe.run.fork;

import org.jspecify.annotations.NullMarked;
