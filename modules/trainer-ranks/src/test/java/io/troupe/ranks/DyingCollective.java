package io.troupe.ranks;

import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;

/** A member of a group that dies in an exchange of a step. */
final class DyingCollective implements Collective {
  private final Collective to;
  private final int step;
  private final Exchange at;
  private final Death death;
  private int steps;

  /** The exchanges of a step, in their order. */
  enum Exchange {
    GRADIENTS,
    NORM,
    GATHER
  }

  /** How it dies. */
  @FunctionalInterface
  interface Death {
    void come() throws RankLostException;
  }

  /**
   * Creates a member.
   *
   * @param step counted from 1
   */
  DyingCollective(Collective to, int step, Exchange at, Death death) {
    this.to = to;
    this.step = step;
    this.at = at;
    this.death = death;
  }

  private void dieIn(Exchange now) throws RankLostException {
    if (now == at && ++steps == step) {
      death.come();
    }
  }

  @Override
  public int rank() {
    return to.rank();
  }

  @Override
  public int size() {
    return to.size();
  }

  @Override
  public void reduceScatter(Span all, Span piece) throws RankLostException {
    dieIn(Exchange.GRADIENTS);
    to.reduceScatter(all, piece);
  }

  @Override
  public void allGather(Span piece, Span all) throws RankLostException {
    dieIn(Exchange.GATHER);
    to.allGather(piece, all);
  }

  @Override
  public void allReduce(Span values) throws RankLostException {
    to.allReduce(values);
  }

  @Override
  public void broadcast(Span values, int root) throws RankLostException {
    to.broadcast(values, root);
  }

  @Override
  public void abort() {
    to.abort();
  }

  @Override
  public void allReduce(double[] values) throws RankLostException {
    dieIn(Exchange.NORM);
    to.allReduce(values);
  }

  @Override
  public void close() {
    to.close();
  }
}
