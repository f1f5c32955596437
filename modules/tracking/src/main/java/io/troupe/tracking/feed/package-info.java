/** What a run's folder has for trackers, read as it grows, and what a tracker is. */
@NullMarked
package io.troupe.tracking.feed;

import org.jspecify.annotations.NullMarked;
