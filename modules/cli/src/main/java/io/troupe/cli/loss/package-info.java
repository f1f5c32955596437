/** {@code troupe loss}: losses of a user's own. */
@NullMarked
package io.troupe.cli.loss;

import org.jspecify.annotations.NullMarked;
