/** A tabular policy that learns in milliseconds, for tests and for runs without PyTorch. */
@NullMarked
package io.troupe.engine.toy;

import org.jspecify.annotations.NullMarked;
