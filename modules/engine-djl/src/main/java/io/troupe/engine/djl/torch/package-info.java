/** TorchScript programs and native tensors. */
@NullMarked
package io.troupe.engine.djl.torch;

import org.jspecify.annotations.NullMarked;
