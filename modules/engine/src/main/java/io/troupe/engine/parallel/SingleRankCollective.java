package io.troupe.engine.parallel;

import java.lang.foreign.MemorySegment;

/** A group of one rank, which exchanges nothing. */
final class SingleRankCollective implements Collective {
  @Override
  public int rank() {
    return 0;
  }

  @Override
  public int size() {
    return 1;
  }

  @Override
  public void reduceScatter(MemorySegment all, MemorySegment piece) {
    piece.copyFrom(all);
  }

  @Override
  public void allGather(MemorySegment piece, MemorySegment all) {
    all.copyFrom(piece);
  }

  @Override
  public void allReduce(double[] values) {}

  @Override
  public void close() {}
}
