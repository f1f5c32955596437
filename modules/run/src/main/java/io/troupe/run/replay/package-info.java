/** Runs made again from their journals, compared bit for bit, and explained token by token. */
@NullMarked
package io.troupe.run.replay;

import org.jspecify.annotations.NullMarked;
