/** The secret that the processes of a run share, and its proof. */
@NullMarked
package io.troupe.net.secret;

import org.jspecify.annotations.NullMarked;
