/**
 * Inference servers as child processes: started, supervised, and ended with all their descendants.
 */
@NullMarked
package io.troupe.engine.http.sidecar;

import org.jspecify.annotations.NullMarked;
