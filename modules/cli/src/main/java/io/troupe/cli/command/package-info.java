/** What the commands of the command line have in common. */
@NullMarked
package io.troupe.cli.command;

import org.jspecify.annotations.NullMarked;
