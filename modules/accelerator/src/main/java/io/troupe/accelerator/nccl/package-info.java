/** NCCL and the CUDA runtime, called in the libraries that an installed PyTorch brings. */
@NullMarked
package io.troupe.accelerator.nccl;

import org.jspecify.annotations.NullMarked;
