/** What the HTTP clients and servers of several modules share. */
@NullMarked
package io.troupe.engine.net;

import org.jspecify.annotations.NullMarked;
