@NullMarked
package io.troupe.engine.http.sidecar;

import org.jspecify.annotations.NullMarked;
