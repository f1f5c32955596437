/** A store of whole objects under keys, as the uploads of a run need it. */
@NullMarked
package io.troupe.store.objects;

import org.jspecify.annotations.NullMarked;
