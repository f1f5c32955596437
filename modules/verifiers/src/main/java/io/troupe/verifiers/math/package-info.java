/** Whether two mathematical answers are the same. */
@NullMarked
package io.troupe.verifiers.math;

import org.jspecify.annotations.NullMarked;
