/** What the console reads from a run and asks of its processes. */
@NullMarked
package io.troupe.run.console;

import org.jspecify.annotations.NullMarked;
