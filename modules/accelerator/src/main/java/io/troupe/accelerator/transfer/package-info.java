/**
 * Rendezvous and chunks: the parts, beside NCCL, by which a trainer sends weights to vLLM's
 * workers.
 */
@NullMarked
package io.troupe.accelerator.transfer;

import org.jspecify.annotations.NullMarked;
