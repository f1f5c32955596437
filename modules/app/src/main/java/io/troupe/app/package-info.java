/** The command line, and the composition of a run from its configuration. */
@NullMarked
package io.troupe.app;

import org.jspecify.annotations.NullMarked;
