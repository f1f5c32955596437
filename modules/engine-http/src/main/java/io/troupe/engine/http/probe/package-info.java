/** The capabilities of an inference server, tested when it joins. */
@NullMarked
package io.troupe.engine.http.probe;

import org.jspecify.annotations.NullMarked;
