/** One replica: its weights, adapters and load. */
@NullMarked
package io.troupe.engine.http.replica;

import org.jspecify.annotations.NullMarked;
