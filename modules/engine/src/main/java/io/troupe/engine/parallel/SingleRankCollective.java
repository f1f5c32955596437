package io.troupe.engine.parallel;

import static io.troupe.core.Require.require;

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
  public void reduceScatter(Span all, Span piece) {
    piece.memory().copyFrom(all.memory());
  }

  @Override
  public void allGather(Span piece, Span all) {
    all.memory().copyFrom(piece.memory());
  }

  @Override
  public void allReduce(Span values) {}

  @Override
  public void allReduce(double[] values) {}

  @Override
  public void broadcast(Span values, int root) {
    require(root == 0, "rank %d of 1 rank", root);
  }

  @Override
  public void abort() {}

  @Override
  public void close() {}
}
