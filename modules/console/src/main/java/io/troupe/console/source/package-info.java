/** Where the console reads a run from. */
@NullMarked
package io.troupe.console.source;

import org.jspecify.annotations.NullMarked;
