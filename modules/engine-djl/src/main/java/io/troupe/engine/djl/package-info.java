/** The policy on DJL/PyTorch: a Qwen3-style decoder, its trainer and its sampler. */
@NullMarked
package io.troupe.engine.djl;

import org.jspecify.annotations.NullMarked;
