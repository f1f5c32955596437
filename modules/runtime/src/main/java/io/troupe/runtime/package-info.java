/** The actors of the loop: each receives, asks the core, assigns the next state, and sends. */
@NullMarked
package io.troupe.runtime;

import org.jspecify.annotations.NullMarked;
