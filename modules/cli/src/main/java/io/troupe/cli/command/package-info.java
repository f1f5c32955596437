/** Parts that the commands of the command line share. */
@NullMarked
package io.troupe.cli.command;

import org.jspecify.annotations.NullMarked;
