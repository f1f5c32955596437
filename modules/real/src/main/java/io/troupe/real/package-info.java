/** Runs Troupe beside the real programs of others, in environments of their own. */
@NullMarked
package io.troupe.real;

import org.jspecify.annotations.NullMarked;
