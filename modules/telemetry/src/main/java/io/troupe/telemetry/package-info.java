/** What a run reports about itself: the metrics, their definitions, and how they are shown. */
@NullMarked
package io.troupe.telemetry;

import org.jspecify.annotations.NullMarked;
