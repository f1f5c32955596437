/** Engines, tasks, verifiers and servers put together from a configuration. */
@NullMarked
package io.troupe.run.compose;

import org.jspecify.annotations.NullMarked;
