/** Verifiers of mathematical answers. */
@NullMarked
package io.troupe.verifiers.math;

import org.jspecify.annotations.NullMarked;
