/** What the processes of a run know and strangers do not, and how they prove it. */
@NullMarked
package io.troupe.net.secret;

import org.jspecify.annotations.NullMarked;
