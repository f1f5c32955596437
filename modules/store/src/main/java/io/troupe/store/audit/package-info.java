/** The audit of a run folder, and how it is shown. */
@NullMarked
package io.troupe.store.audit;

import org.jspecify.annotations.NullMarked;
