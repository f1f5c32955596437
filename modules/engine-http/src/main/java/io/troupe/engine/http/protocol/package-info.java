/**
 * What goes over the wire to an inference server and back: pure codecs and checks, without a socket
 * or a clock.
 */
@NullMarked
package io.troupe.engine.http.protocol;

import org.jspecify.annotations.NullMarked;
