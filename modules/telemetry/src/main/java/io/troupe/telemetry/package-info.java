/** A run's reports about itself: the metrics, their definitions, and their display. */
@NullMarked
package io.troupe.telemetry;

import org.jspecify.annotations.NullMarked;
