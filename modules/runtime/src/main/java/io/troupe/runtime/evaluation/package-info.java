/** Chunks of evaluations that workers sample for other processes, beside their leases. */
@NullMarked
package io.troupe.runtime.evaluation;

import org.jspecify.annotations.NullMarked;
