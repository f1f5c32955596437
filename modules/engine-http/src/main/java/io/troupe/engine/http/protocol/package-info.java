/** The wire protocols of inference servers: pure codecs and checks, without a socket or a clock. */
@NullMarked
package io.troupe.engine.http.protocol;

import org.jspecify.annotations.NullMarked;
