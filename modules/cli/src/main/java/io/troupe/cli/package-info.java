/** The command line: its commands and their exit codes. */
@NullMarked
package io.troupe.cli;

import org.jspecify.annotations.NullMarked;
