@NullMarked
package io.troupe.engine.http.protocol;

import org.jspecify.annotations.NullMarked;
