/** Trainer ranks that are processes, of the coordinator's host or of others. */
@NullMarked
package io.troupe.ranks;

import org.jspecify.annotations.NullMarked;
