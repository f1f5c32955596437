/** Answers as expressions: what was written, before it is evaluated. */
@NullMarked
package io.troupe.verifiers.math.expr;

import org.jspecify.annotations.NullMarked;
