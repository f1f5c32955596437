@NullMarked
package io.troupe.telemetry.view;

import org.jspecify.annotations.NullMarked;
