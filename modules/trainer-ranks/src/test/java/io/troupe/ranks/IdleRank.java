package io.troupe.ranks;

import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.StatePiece;
import io.troupe.engine.parallel.StateSink;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A rank without weights, which makes no step. */
class IdleRank implements TrainerRank {
  @Override
  public void begin(Path state, Collective group) {}

  @Override
  public RankStepOutcome step(RankBatch share, OptimizerSettings optimisation)
      throws RankLostException {
    throw new IllegalStateException("out of memory");
  }

  @Override
  public void write(List<StatePart> parts, StateSink to) throws IOException {}

  @Override
  public void freezeReference() {}

  @Override
  public long pieceElements() {
    return 0;
  }

  @Override
  public void copyTo(StatePiece copy) {}

  @Override
  public void take(StatePiece part) {}

  @Override
  public void continueAfter(long steps) {}

  @Override
  public void close() {}
}
