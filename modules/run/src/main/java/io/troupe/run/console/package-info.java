/** The console's sources in a run, and its requests to the run's processes. */
@NullMarked
package io.troupe.run.console;

import org.jspecify.annotations.NullMarked;
