/** Addresses of sockets: host and port, IPv6 included. */
@NullMarked
package io.troupe.base.net;

import org.jspecify.annotations.NullMarked;
