/** The soak: a run whose processes are killed at random, and audited after each kill. */
@NullMarked
package io.troupe.app.soak;

import org.jspecify.annotations.NullMarked;
