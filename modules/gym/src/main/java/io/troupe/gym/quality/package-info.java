/** The rules that generated rows must pass. */
@NullMarked
package io.troupe.gym.quality;

import org.jspecify.annotations.NullMarked;
