/** The sampler: continuous batching with admission, preemption, a KV cache and token sampling. */
@NullMarked
package io.troupe.engine.djl.decode;

import org.jspecify.annotations.NullMarked;
