/** Values of expressions, exact or to many digits. */
@NullMarked
package io.troupe.verifiers.math.value;

import org.jspecify.annotations.NullMarked;
