package io.troupe.engine.parallel;

import io.troupe.engine.Optimisation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** All ranks of a trainer, wherever they are. Every method blocks; no two are called at once. */
public interface RankCrew extends AutoCloseable {
  /** How many made the last beginning, or would. */
  int size();

  /** Whether ranks have come since the last beginning, so that all should begin anew. */
  default boolean changed() {
    return false;
  }

  /**
   * All ranks begin anew, in a new group; those that are gone are started again first.
   *
   * @param state what a trainer has saved; read when this returns
   * @throws RankLostException if one is lost on the way; may be called again then
   * @throws IOException if they cannot begin
   */
  void begin(Path state) throws IOException, RankLostException;

  /**
   * One step that all make together.
   *
   * @param shares one a rank, in rank order
   * @return in rank order; either all have moved or none has
   * @throws RankLostException if one was lost: they must {@link #begin} again
   */
  List<RankStep> step(List<RankShare> shares, Optimisation optimisation) throws RankLostException;

  /** Told that a step is abandoned, and why. */
  void lost(String reason);

  @Override
  void close();
}
