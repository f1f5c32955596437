/** Weights outside an engine: snapshots, adapters, their memory. */
@NullMarked
package io.troupe.engine.weights;

import org.jspecify.annotations.NullMarked;
