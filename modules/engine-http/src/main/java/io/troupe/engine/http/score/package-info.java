/** Log-probabilities from an inference server. */
@NullMarked
package io.troupe.engine.http.score;

import org.jspecify.annotations.NullMarked;
