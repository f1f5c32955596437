/** The decoder model: its settings, weights, adapters and optimizer. */
@NullMarked
package io.troupe.engine.djl.model;

import org.jspecify.annotations.NullMarked;
