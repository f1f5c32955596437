/** What an inference server can do, measured at the start. */
@NullMarked
package io.troupe.engine.http.probe;

import org.jspecify.annotations.NullMarked;
