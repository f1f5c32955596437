package io.troupe.engine.djl.decode;

import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Torch;

/**
 * How many threads share a sampler's next call: one, unless its matrix products are large enough to
 * be worth waking others for. That depends on the number of positions alone, so the same batch is
 * computed in the same way again.
 *
 * <p>OpenMP's threads wait for work by spinning only while there are no more of them in a process
 * than processors; beside a trainer's they sleep, and waking them takes longer than a small
 * product.
 *
 * @param all threads of the sampler
 * @param product numbers of the average matrix
 */
record DecodeThreads(int all, long product) {
  /** Products of a layer once its weights are joined. */
  private static final int PRODUCTS = 4;

  /** Reading a weight takes as long as so many multiplications. */
  private static final int READING = 12;

  /** Multiplications of a product that is worth sharing, well over half a millisecond's. */
  private static final long WORTH = 1 << 24;

  static DecodeThreads of(Decoder decoder, ComputeSettings compute) {
    int products = PRODUCTS * decoder.settings().layers() + 1;
    return new DecodeThreads(compute.samplerThreads(), decoder.layout().size() / products);
  }

  /** Settles the calling thread's number for a call over so many positions. */
  void take(long positions) {
    Torch.share((positions + READING) * product >= WORTH ? all : 1);
  }
}
