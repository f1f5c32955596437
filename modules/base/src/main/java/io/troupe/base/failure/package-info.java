/** Causes of failures, and waits and closings that a failure does not cut short. */
@NullMarked
package io.troupe.base.failure;

import org.jspecify.annotations.NullMarked;
