/** Views of a run: projections of its events, the same for a live run and a dead one. */
@NullMarked
package io.troupe.telemetry.view;

import org.jspecify.annotations.NullMarked;
