package io.troupe.engine.djl.decode;

import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Torch;

/**
 * The number of threads that share the next call of a sampler: one thread, unless the matrix
 * products of the call are large enough to repay waking the others. The number of positions alone
 * decides, so that the same batch is always computed in the same way.
 *
 * <p>OpenMP's threads wait for work by spinning only while the process has no more of them than the
 * host has CPUs. Beside the threads of a trainer they sleep, and waking them takes longer than a
 * small product.
 *
 * @param all threads of the sampler
 * @param product elements of the average matrix
 * @param batchInvariant see {@link ComputeSettings.Decoding}
 */
public record DecodeThreads(int all, long product, boolean batchInvariant) {
  /** The fewest rows of a product for a thread whose sums are those of larger products. */
  static final int MIN_ROWS = 4;

  /** The matrix products of a layer with joined weights. */
  private static final int PRODUCTS = 4;

  /** The multiplications that take as long as reading one weight from memory. */
  private static final int READ_COST = 12;

  /**
   * The multiplications of the smallest product that threads share: well over half a millisecond of
   * work.
   */
  private static final long MIN_SHARED_PRODUCT = 1 << 24;

  static DecodeThreads of(Decoder decoder, ComputeSettings compute) {
    int products = PRODUCTS * decoder.settings().layers() + 1;
    return new DecodeThreads(
        compute.samplerThreads(),
        decoder.layout().size() / products,
        compute.decoding().batchInvariant());
  }

  /** Returns the number that the rows of each product are a multiple of. */
  public static int rowMultiple(ComputeSettings compute) {
    return compute.decoding().batchInvariant() ? MIN_ROWS * compute.samplerThreads() : 1;
  }

  /** Sets the number of threads for a call over sequences of a length. */
  void shareSequences(int sequences, int length) {
    // Attention over one sequence is divided among threads in another way than over several.
    share(batchInvariant && sequences == 1 ? 0 : (long) sequences * length);
  }

  /** Sets the number of threads for a call over a number of positions. */
  void share(long positions) {
    Torch.share((positions + READ_COST) * product >= MIN_SHARED_PRODUCT ? all : 1);
  }
}
