/** The sources from which the console reads a run. */
@NullMarked
package io.troupe.console.source;

import org.jspecify.annotations.NullMarked;
