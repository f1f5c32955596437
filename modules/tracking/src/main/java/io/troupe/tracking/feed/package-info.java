/** A run's folder as trackers read it while it grows, and the port to a tracker. */
@NullMarked
package io.troupe.tracking.feed;

import org.jspecify.annotations.NullMarked;
