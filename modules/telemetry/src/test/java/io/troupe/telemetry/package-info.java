/** Tests of the telemetry. */
@NullMarked
package io.troupe.telemetry;

import org.jspecify.annotations.NullMarked;
