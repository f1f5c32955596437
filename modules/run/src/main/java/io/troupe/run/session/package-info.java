/** One run from its first line on the screen to its exit code. */
@NullMarked
package io.troupe.run.session;

import org.jspecify.annotations.NullMarked;
