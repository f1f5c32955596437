/** Metrics and spans in the formats of other tools. */
@NullMarked
package io.troupe.telemetry.export;

import org.jspecify.annotations.NullMarked;
