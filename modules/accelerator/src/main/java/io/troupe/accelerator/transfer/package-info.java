/** What a trainer needs, beside NCCL, to send weights to vLLM's workers: rendezvous and chunks. */
@NullMarked
package io.troupe.accelerator.transfer;

import org.jspecify.annotations.NullMarked;
