/** One inference server, called. */
@NullMarked
package io.troupe.engine.http.client;

import org.jspecify.annotations.NullMarked;
