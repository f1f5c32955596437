package io.troupe.engine.parallel;

import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * All ranks of a trainer, as threads or processes. Every method blocks; no two are called at once.
 */
public interface TrainerRanks extends AutoCloseable {
  /** Returns the number of ranks of the last beginning, or of the first one if there was none. */
  int size();

  /** Whether ranks were added since the last beginning, so that all should begin again. */
  default boolean changed() {
    return false;
  }

  /**
   * Starts lost ranks again, and lets all ranks begin again in a new group.
   *
   * @param state directory that a trainer saved; it is not read after the call returns
   * @throws RankLostException if a rank is lost meanwhile; the caller may try again
   * @throws IOException if the ranks cannot begin
   */
  void begin(Path state) throws IOException, RankLostException;

  /**
   * Makes one step of all ranks.
   *
   * @param shares one part of the batch for each rank, in rank order
   * @return outcomes in rank order; either all ranks have moved or none has
   * @throws RankLostException if a rank was lost: the ranks must {@link #begin} again
   */
  List<RankStepOutcome> step(List<RankBatch> shares, OptimizerSettings optimisation)
      throws RankLostException;

  /**
   * Has each rank write its piece of the state into files, durably where they are a checkpoint's.
   *
   * @throws RankLostException if a rank was lost: the ranks must {@link #begin} again
   */
  void write(StateFiles files) throws IOException, RankLostException;

  /**
   * Has each rank freeze its weights as the reference policy, in place of a former one.
   *
   * @throws RankLostException if a rank was lost: the ranks must {@link #begin} again
   */
  void freezeReference() throws IOException, RankLostException;

  /**
   * Takes the ranks that have begun to their last common step, by copies of its state that ranks
   * keep for each other in memory.
   *
   * @param steps from the state that they began from to that step
   * @return empty if they are there; otherwise why not, and they are as they began
   * @throws RankLostException if a rank was lost: the ranks must {@link #begin} again
   */
  Optional<String> recover(long steps) throws RankLostException;

  /** Receives that the ranks go back to their last saved state, as {@link RankNotices} do. */
  void wentBack(long steps, String reason);

  /** Returns a folder that nothing else uses, for states; ranks that see it read and write it. */
  Path scratch();

  /**
   * Returns a folder in the memory of this host that nothing else uses, for the weights of
   * versions; empty if there is none.
   *
   * @throws IOException if it cannot be made
   */
  default Optional<Path> memory() throws IOException {
    return Optional.empty();
  }

  /**
   * Makes room for files in that folder, whose tensors are holes.
   *
   * @throws IOException if the memory of the host has too little
   */
  default void reserve(StateFiles files) throws IOException {}

  /** Receives the reason why versions pass through the other folder. */
  default void withoutMemory(String reason) {}

  /** Receives the reason why a step was abandoned. */
  void lost(String reason);

  @Override
  void close();
}
