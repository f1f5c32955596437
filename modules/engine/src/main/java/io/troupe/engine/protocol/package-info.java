/** The fields and names that HTTP servers and clients of an engine share. */
@NullMarked
package io.troupe.engine.protocol;

import org.jspecify.annotations.NullMarked;
