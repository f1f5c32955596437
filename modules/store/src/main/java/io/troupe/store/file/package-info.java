/** Files of a run and their failures. */
@NullMarked
package io.troupe.store.file;

import org.jspecify.annotations.NullMarked;
