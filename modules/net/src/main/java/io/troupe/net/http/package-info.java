/** Parts that the HTTP clients and servers of several modules share. */
@NullMarked
package io.troupe.net.http;

import org.jspecify.annotations.NullMarked;
