/** What a server over an engine and a client of one say alike. */
@NullMarked
package io.troupe.engine.protocol;

import org.jspecify.annotations.NullMarked;
