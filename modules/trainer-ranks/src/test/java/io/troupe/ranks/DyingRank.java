package io.troupe.ranks;

import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.StateSink;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A rank whose process kills itself once: the next one finds a file, and lives. */
final class DyingRank implements TrainerRank {
  private final TrainerRank rank;
  private final Phase phase;
  private final Path died;

  /** Where in its second step, or in its first writing of state, it is killed. */
  enum Phase {
    NEVER,
    GRADIENTS,
    NORM,
    GATHER,
    WRITING
  }

  DyingRank(TrainerRank rank, Phase phase, Path died) {
    this.rank = rank;
    this.phase = phase;
    this.died = died;
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
          case NEVER, WRITING -> group;
          case GRADIENTS, NORM, GATHER ->
              new DyingCollective(
                  group, 2, DyingCollective.Exchange.valueOf(phase.name()), this::die);
        });
  }

  @Override
  public RankStepOutcome step(RankBatch share, OptimizerSettings optimisation)
      throws RankLostException {
    return rank.step(share, optimisation);
  }

  @Override
  public void write(List<StatePart> parts, StateSink to) throws IOException {
    rank.write(
        parts,
        (tensor, from, bytes) -> {
          to.write(tensor, from, bytes.asSlice(0, bytes.byteSize() / 2));
          if (phase == Phase.WRITING) {
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
  public void close() {
    rank.close();
  }
}
