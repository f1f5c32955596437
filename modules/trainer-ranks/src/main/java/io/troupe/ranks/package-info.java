/** Trainer ranks that are processes of the coordinator's host. */
@NullMarked
package io.troupe.ranks;

import org.jspecify.annotations.NullMarked;
