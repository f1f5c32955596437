/** The command that sends a run to trackers. */
@NullMarked
package io.troupe.cli.track;

import org.jspecify.annotations.NullMarked;
