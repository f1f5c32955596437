/** Episodes of agent programs that only know a URL: the HTTP server and its sessions. */
@NullMarked
package io.troupe.gateway;

import org.jspecify.annotations.NullMarked;
