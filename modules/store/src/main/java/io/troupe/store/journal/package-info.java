/** The journal: written, recovered, read, archived. */
@NullMarked
package io.troupe.store.journal;

import org.jspecify.annotations.NullMarked;
