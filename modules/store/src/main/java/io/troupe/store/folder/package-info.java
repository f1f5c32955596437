/** The folder of a run, its lease and its provenance. */
@NullMarked
package io.troupe.store.folder;

import org.jspecify.annotations.NullMarked;
