/** A run made again from its journal, compared bit for bit, and explained token by token. */
@NullMarked
package io.troupe.run.replay;

import org.jspecify.annotations.NullMarked;
