package io.troupe.ranks;

import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;

/**
 * A group whose first exchange of a step waits until all have their gradients, as the coordinator
 * tells. One thread uses it.
 */
final class GatedCollective implements Collective {
  private final Collective group;
  private final Barrier gate;
  private boolean shut;

  /** Where this rank waits. */
  @FunctionalInterface
  interface Barrier {
    /** Returns when all are ready; throws if one is lost. */
    void await() throws RankLostException;
  }

  GatedCollective(Collective group, Barrier gate) {
    this.group = group;
    this.gate = gate;
  }

  /** A step begins. */
  void shut() {
    shut = true;
  }

  private Collective open() throws RankLostException {
    if (shut) {
      gate.await();
      shut = false;
    }
    return group;
  }

  @Override
  public int rank() {
    return group.rank();
  }

  @Override
  public int size() {
    return group.size();
  }

  @Override
  public void reduceScatter(Span all, Span piece) throws RankLostException {
    open().reduceScatter(all, piece);
  }

  @Override
  public void allGather(Span piece, Span all) throws RankLostException {
    open().allGather(piece, all);
  }

  @Override
  public void allReduce(Span values) throws RankLostException {
    open().allReduce(values);
  }

  @Override
  public void broadcast(Span values, int root) throws RankLostException {
    open().broadcast(values, root);
  }

  @Override
  public void abort() {
    group.abort();
  }

  @Override
  public void allReduce(double[] values) throws RankLostException {
    open().allReduce(values);
  }

  @Override
  public void close() {
    group.close();
  }
}
