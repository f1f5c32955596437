/** Segments of a journal: headers, frames, checksums. */
@NullMarked
package io.troupe.store.segment;

import org.jspecify.annotations.NullMarked;
