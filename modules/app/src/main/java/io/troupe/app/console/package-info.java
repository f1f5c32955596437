/** The console's side of a run, and the commands that talk to it. */
@NullMarked
package io.troupe.app.console;

import org.jspecify.annotations.NullMarked;
