/** Log-probabilities asked of an inference server. */
@NullMarked
package io.troupe.engine.http.score;

import org.jspecify.annotations.NullMarked;
