/** Connections between hosts outside the actors' transport: plain or TLS, blocking, with limits. */
@NullMarked
package io.troupe.cluster.link;

import org.jspecify.annotations.NullMarked;
