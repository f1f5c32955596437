package io.troupe.engine.parallel;

import java.lang.foreign.MemorySegment;

/**
 * The collective operations of a data-parallel trainer. Every rank calls the same operations in the
 * same order with arrays of the same length; a call blocks until its result is there. One thread of
 * each rank makes the calls.
 *
 * <p>The operations have the meaning and the argument order of NCCL, so that NCCL can implement
 * this interface; on a GPU the segments are then device memory.
 *
 * <p>Arrays are float32, or float64 in the one reduction of few numbers. Rank r owns the r-th of
 * {@code size} equal pieces of an array, {@code count / size} elements each: the caller pads.
 *
 * @see <a href="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api/colls.html">NCCL</a>
 */
public interface Collective extends AutoCloseable {
  /** Returns the index of this rank, from 0. */
  int rank();

  /** Returns the number of ranks. */
  int size();

  /**
   * Sums an array over the ranks; each rank gets its own piece of the sum.
   *
   * @param all float32, of this rank; its length is a multiple of the number of ranks. its content
   *     is undefined afterwards
   * @param piece float32; gets this rank's piece
   * @throws RankLostException if a rank does not take part in time
   */
  void reduceScatter(MemorySegment all, MemorySegment piece) throws RankLostException;

  /**
   * Concatenates the pieces of all ranks; each rank gets the whole array.
   *
   * @param piece float32, of this rank; may be its own part of {@code all}
   * @param all float32; gets the pieces in rank order
   * @throws RankLostException if a rank does not take part in time
   */
  void allGather(MemorySegment piece, MemorySegment all) throws RankLostException;

  /**
   * Sums a few numbers over the ranks, in rank order, so that each rank gets the same bits.
   *
   * @param values of this rank; replaced by the sums
   * @throws RankLostException if a rank does not take part in time
   */
  void allReduce(double[] values) throws RankLostException;

  /**
   * Waits until every rank has called this method.
   *
   * @throws RankLostException if a rank does not call it in time
   */
  default void barrier() throws RankLostException {
    allReduce(new double[0]);
  }

  /** Leaves the group; for the other ranks this rank is lost at their next operation. */
  @Override
  void close();

  /** Returns a group of one rank. */
  static Collective alone() {
    return new SingleRankCollective();
  }
}
