/** The policy on DJL/PyTorch: a decoder, its trainer and its sampler. */
@NullMarked
package io.troupe.engine.djl;

import org.jspecify.annotations.NullMarked;
