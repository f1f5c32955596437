package io.troupe.engine.parallel;

import java.lang.foreign.MemorySegment;

/**
 * What the ranks of a data-parallel trainer exchange. Every rank calls the same operations in the
 * same order with arrays of the same length; a call blocks until its result is there. One thread of
 * a rank uses it.
 *
 * <p>The operations are NCCL's, with its meaning and its argument order, so that NCCL can stand
 * behind this interface; on a GPU the segments are then device memory.
 *
 * <p>Arrays are float32, or float64 in the one reduction of few numbers. Rank r owns the r-th of
 * {@code size} equal pieces of an array, {@code count / size} elements each: the caller pads.
 *
 * @see <a href="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api/colls.html">NCCL</a>
 */
public interface Collective extends AutoCloseable {
  /** This rank, from 0. */
  int rank();

  /** How many there are. */
  int size();

  /**
   * Sums an array over the ranks; each gets its own piece of the sum.
   *
   * @param all float32, of this rank; its length is a multiple of the number of ranks. What stands
   *     in it afterwards means nothing
   * @param piece float32; gets this rank's piece
   * @throws RankLostException if a rank does not take part in time
   */
  void reduceScatter(MemorySegment all, MemorySegment piece) throws RankLostException;

  /**
   * Puts the pieces of all ranks together; each gets the whole array.
   *
   * @param piece float32, of this rank; may be the part of {@code all} where it belongs
   * @param all float32; gets the pieces in rank order
   * @throws RankLostException if a rank does not take part in time
   */
  void allGather(MemorySegment piece, MemorySegment all) throws RankLostException;

  /**
   * Sums a few numbers over the ranks, in rank order, so that each gets the same bits.
   *
   * @param values of this rank; replaced by the sums
   * @throws RankLostException if a rank does not take part in time
   */
  void allReduce(double[] values) throws RankLostException;

  /**
   * Waits until every rank is here.
   *
   * @throws RankLostException if a rank does not come in time
   */
  default void barrier() throws RankLostException {
    allReduce(new double[0]);
  }

  /** Leaves the group; the other ranks find this one lost at their next operation. */
  @Override
  void close();

  /** A group of one. */
  static Collective alone() {
    return new SingleRankCollective();
  }
}
