package io.troupe.engine.parallel;

/**
 * The collective operations of a group of ranks. Every rank calls the same operations in the same
 * order with spans of the same length and element type; a call blocks until its result is there, or
 * until the group's deadline. One thread of each rank makes the calls; {@link #abort} may come from
 * any thread.
 *
 * <p>The operations have the meaning and the argument order of NCCL, which is one implementation:
 * its spans are device memory, those of the others host memory. Sums of bfloat16 are rounded to
 * bfloat16, in an order that the implementation chooses, but every rank gets the same bits.
 *
 * <p>Rank r owns the r-th of {@code size} equal pieces of a span: the caller pads.
 *
 * @see <a href="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api/colls.html">NCCL</a>
 */
public interface Collective extends AutoCloseable {
  /** Returns the index of this rank, from 0. */
  int rank();

  /** Returns the number of ranks. */
  int size();

  /**
   * Sums a span over the ranks; each rank gets its own piece of the sum.
   *
   * @param all of this rank; its length is a multiple of the number of ranks. its content is
   *     undefined afterwards
   * @param piece gets this rank's piece
   * @throws RankLostException if a rank does not take part in time, or the group is aborted
   */
  void reduceScatter(Span all, Span piece) throws RankLostException;

  /**
   * Concatenates the pieces of all ranks; each rank gets the whole span.
   *
   * @param piece of this rank; may be its own part of {@code all}
   * @param all gets the pieces in rank order
   * @throws RankLostException if a rank does not take part in time, or the group is aborted
   */
  void allGather(Span piece, Span all) throws RankLostException;

  /**
   * Sums a span over the ranks.
   *
   * @param values of this rank; replaced by the sums
   * @throws RankLostException if a rank does not take part in time, or the group is aborted
   */
  void allReduce(Span values) throws RankLostException;

  /**
   * Sums a few numbers over the ranks, so that each rank gets the same bits.
   *
   * @param values of this rank; replaced by the sums
   * @throws RankLostException if a rank does not take part in time, or the group is aborted
   */
  void allReduce(double[] values) throws RankLostException;

  /**
   * Copies a span of one rank to all others.
   *
   * @param values of the root; replaced by them at the other ranks
   * @param root rank that has them
   * @throws RankLostException if a rank does not take part in time, or the group is aborted
   */
  void broadcast(Span values, int root) throws RankLostException;

  /**
   * Waits until every rank has called this method.
   *
   * @throws RankLostException if a rank does not call it in time, or the group is aborted
   */
  default void barrier() throws RankLostException {
    allReduce(new double[0]);
  }

  /**
   * Ends the operation that this rank is in and refuses all later ones with a {@link
   * RankLostException}, from any thread; for the other ranks this rank is lost. The group still has
   * to be closed.
   */
  void abort();

  /** Leaves the group; for the other ranks this rank is lost at their next operation. */
  @Override
  void close();

  /** Returns a group of one rank. */
  static Collective alone() {
    return new SingleRankCollective();
  }
}
