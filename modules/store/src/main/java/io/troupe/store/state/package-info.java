/** Events and states of a run as JSON. */
@NullMarked
package io.troupe.store.state;

import org.jspecify.annotations.NullMarked;
