/** Weights that go to vLLM's workers by NCCL, as vLLM's weight transfer protocol wants them. */
@NullMarked
package io.troupe.engine.http.broadcast;

import org.jspecify.annotations.NullMarked;
