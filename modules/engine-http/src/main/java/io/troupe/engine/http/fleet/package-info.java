/** Several inference servers as one engine. */
@NullMarked
package io.troupe.engine.http.fleet;

import org.jspecify.annotations.NullMarked;
