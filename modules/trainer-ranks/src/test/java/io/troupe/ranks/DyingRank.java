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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** A rank whose process kills itself once: the next one finds a file, and lives. */
final class DyingRank implements TrainerRank {
  private final TrainerRank rank;
  private final Phase phase;
  private final Path died;
  private final Path steps;
  private int copies;

  /** Where in its second step, or in its first writing of state, it is killed. */
  enum Phase {
    NEVER,
    GRADIENTS,
    NORM,
    GATHER,
    COPYING,
    /** Into files of the coordinator's host. */
    WRITING,
    /** Over its line, as on another host. */
    SENDING
  }

  /**
   * Wraps a rank.
   *
   * @param died file that is there once a process has killed itself
   * @param steps file that gets a byte for each step that is begun
   */
  DyingRank(TrainerRank rank, Phase phase, Path died, Path steps) {
    this.rank = rank;
    this.phase = phase;
    this.died = died;
    this.steps = steps;
  }

  /** As kill -9: nothing is closed, and nobody is told. */
  private void die() {
    if (!Files.exists(died)) {
      try {
        Files.createFile(died);
      } catch (IOException failure) {
        throw new IllegalStateException(failure);
      }
      Runtime.getRuntime().halt(137);
    }
  }

  @Override
  public void begin(Path state, Collective group) throws IOException {
    rank.begin(
        state,
        switch (phase) {
          case NEVER, COPYING, WRITING, SENDING -> group;
          case GRADIENTS, NORM, GATHER ->
              new DyingCollective(
                  group, 2, DyingCollective.Exchange.valueOf(phase.name()), this::die);
        });
  }

  @Override
  public RankStepOutcome step(RankBatch share, OptimizerSettings optimisation)
      throws RankLostException {
    try {
      Files.write(steps, new byte[1], StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException failure) {
      throw new IllegalStateException(failure);
    }
    return rank.step(share, optimisation);
  }

  @Override
  public void write(List<StatePart> parts, StateSink to) throws IOException {
    rank.write(
        parts,
        (tensor, from, bytes) -> {
          to.write(tensor, from, bytes.asSlice(0, bytes.byteSize() / 2));
          if (phase == Phase.WRITING || phase == Phase.SENDING) {
            die();
          }
          to.write(tensor, from, bytes);
        });
  }

  @Override
  public void freezeReference() {
    rank.freezeReference();
  }

  @Override
  public long pieceElements() {
    return rank.pieceElements();
  }

  @Override
  public void copyTo(StatePiece copy) {
    rank.copyTo(copy);
    if (phase == Phase.COPYING && ++copies == 2) {
      die();
    }
  }

  @Override
  public void take(StatePiece part) {
    rank.take(part);
  }

  @Override
  public void continueAfter(long steps) throws RankLostException {
    rank.continueAfter(steps);
  }

  @Override
  public void close() {
    rank.close();
  }
}
