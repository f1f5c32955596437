package io.troupe.store.checkpoint;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The checkpoints of a run.
 *
 * @param whole checkpoints that can be used, newest first
 * @param broken the others, newest first; they are never deleted
 */
public record CheckpointListing(List<Checkpoint> whole, List<Broken> broken) {
  /**
   * A checkpoint that cannot be used.
   *
   * @param reason fault, with the file's name
   */
  public record Broken(long step, Path directory, String reason) {}

  public CheckpointListing {
    whole = List.copyOf(whole);
    broken = List.copyOf(broken);
  }

  /** Returns the checkpoint of the greatest step. */
  public Optional<Checkpoint> newest() {
    return whole.stream().findFirst();
  }
}
