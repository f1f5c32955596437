/** Trainer ranks that are processes of the head's host. */
@NullMarked
package io.troupe.ranks;

import org.jspecify.annotations.NullMarked;
