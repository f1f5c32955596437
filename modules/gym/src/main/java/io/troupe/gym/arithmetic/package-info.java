/** Arithmetic with known skills, for students small enough for a CPU. */
@NullMarked
package io.troupe.gym.arithmetic;

import org.jspecify.annotations.NullMarked;
