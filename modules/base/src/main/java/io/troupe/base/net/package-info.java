/** Addresses of sockets. */
@NullMarked
package io.troupe.base.net;

import org.jspecify.annotations.NullMarked;
