/** What a journal holds of a run for making it again, and for comparing it with another run. */
@NullMarked
package io.troupe.core.replay;

import org.jspecify.annotations.NullMarked;
