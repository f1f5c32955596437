/** The native library: the TorchScript program, tensors, devices and memory. */
@NullMarked
package io.troupe.engine.djl.torch;

import org.jspecify.annotations.NullMarked;
