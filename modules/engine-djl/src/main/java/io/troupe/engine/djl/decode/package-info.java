/** Continuous batching: admission, KV cache, sampling. */
@NullMarked
package io.troupe.engine.djl.decode;

import org.jspecify.annotations.NullMarked;
