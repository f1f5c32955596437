package io.troupe.engine.parallel;

import io.troupe.base.files.FileTree;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Makes the steps of a trainer with data-parallel ranks.
 *
 * <p>The trainer stays the owner: after every step it adopts the weights and both moments, so that
 * its published weights and its checkpoints are whole and do not depend on the number of ranks.
 * When a rank is lost, the step is abandoned: the trainer is as before the step, all ranks begin
 * again from its state, and the same batch is tried again. It is never given up, because what a
 * rank lacks (a host, a driver, memory that others hold) may be there at any later attempt; the
 * ranks keep the pauses between attempts.
 */
public final class DataParallelSteps implements AutoCloseable {
  private final TrainerRanks crew;
  private boolean begun;

  /** The trainer that owns the weights. */
  public interface Owner {
    /** Writes all state of the trainer into an empty directory. */
    void save(Path directory) throws IOException;

    /**
     * Adopts the result of a step.
     *
     * @param weights float32, the flat array of the ranks, padded
     * @param first AdamW's first moments, laid out like the weights
     * @param second AdamW's second moments, laid out like the weights
     */
    void adopt(MemorySegment weights, MemorySegment first, MemorySegment second);
  }

  /** Creates steps by ranks; {@link #close} closes the ranks. */
  public DataParallelSteps(TrainerRanks crew) {
    this.crew = crew;
  }

  /**
   * Notes that the trainer changed other than by these steps, so that the ranks begin again from
   * its state.
   */
  public void outdated() {
    begun = false;
  }

  /**
   * Makes one step of the trainer.
   *
   * @throws UncheckedIOException if the ranks cannot begin; the trainer is as before
   */
  public StepOutcome step(Owner owner, RankBatch batch, OptimizerSettings optimisation) {
    if (!batch.hasLossWeight()) {
      return new StepOutcome.Skipped("no token of the batch has a loss weight");
    }
    while (true) {
      try {
        return attempt(owner, batch, optimisation);
      } catch (RankLostException failure) {
        begun = false;
        crew.lost(String.valueOf(failure.getMessage()));
      } catch (IOException failure) {
        throw new UncheckedIOException(
            "the trainer's ranks cannot begin: " + failure.getMessage(), failure);
      }
    }
  }

  private StepOutcome attempt(Owner owner, RankBatch batch, OptimizerSettings optimisation)
      throws RankLostException, IOException {
    long start = System.nanoTime();
    if (!begun || crew.changed()) {
      begun = false;
      begin(owner);
      begun = true;
    }
    try (Arena arena = Arena.ofShared()) {
      return applied(owner, crew.step(batch.splitAcross(crew.size()), optimisation, arena), start);
    }
  }

  private StepOutcome applied(Owner owner, List<RankStepOutcome> steps, long start) {
    List<RankStepOutcome.Updated> moved = new ArrayList<>();
    String reason = "";
    for (RankStepOutcome step : steps) {
      switch (step) {
        case RankStepOutcome.Updated piece -> moved.add(piece);
        case RankStepOutcome.Refused(String own) -> reason = reason.isEmpty() ? own : reason;
      }
    }
    if (moved.size() < crew.size()) {
      return new StepOutcome.Skipped(
          reason.isEmpty() ? "the norm of the gradient is not finite" : reason);
    }
    adopt(owner, moved);
    return PartialStepMetrics.whole(
        moved.stream().map(RankStepOutcome.Updated::part).toList(),
        moved.getFirst().norm(),
        (System.nanoTime() - start) / 1e9);
  }

  private void begin(Owner owner) throws IOException, RankLostException {
    Path state = Files.createTempDirectory("troupe-ranks-");
    try {
      owner.save(state);
      crew.begin(state);
    } finally {
      FileTree.delete(state);
    }
  }

  private static void adopt(Owner owner, List<RankStepOutcome.Updated> pieces) {
    long bytes = pieces.getFirst().weights().byteSize();
    try (Arena arena = Arena.ofConfined()) {
      List<MemorySegment> whole =
          Stream.generate(() -> arena.allocate(bytes * pieces.size(), Long.BYTES))
              .limit(3)
              .toList();
      for (int rank = 0; rank < pieces.size(); rank++) {
        RankStepOutcome.Updated piece = pieces.get(rank);
        whole.get(0).asSlice(rank * bytes, bytes).copyFrom(piece.weights());
        whole.get(1).asSlice(rank * bytes, bytes).copyFrom(piece.first());
        whole.get(2).asSlice(rank * bytes, bytes).copyFrom(piece.second());
      }
      owner.adopt(whole.get(0), whole.get(1), whole.get(2));
    }
  }

  @Override
  public void close() {
    crew.close();
  }
}
