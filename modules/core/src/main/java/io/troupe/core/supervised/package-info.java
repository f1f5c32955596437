/** Supervised training: which rows enter which step, and what has happened. */
@NullMarked
package io.troupe.core.supervised;

import org.jspecify.annotations.NullMarked;
