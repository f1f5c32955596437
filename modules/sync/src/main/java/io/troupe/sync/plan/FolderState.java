package io.troupe.sync.plan;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A run folder at one moment, as far as it is copied.
 *
 * @param files all of them that are copied, but those of checkpoints
 * @param checkpoints whole ones
 */
public record FolderState(List<LocalFile> files, List<LocalCheckpoint> checkpoints) {
  /** A folder that was not looked at. */
  public static final FolderState EMPTY = new FolderState(List.of(), List.of());

  /**
   * A file that may grow.
   *
   * @param path within the run folder, with '/'
   */
  public record LocalFile(String path, long bytes) {}

  /**
   * A whole checkpoint.
   *
   * @param manifest SHA-256 of its manifest
   * @param kept whether it is never deleted by retention
   */
  public record LocalCheckpoint(long step, long bytes, String manifest, boolean kept) {}

  public FolderState {
    files = List.copyOf(files);
    checkpoints = List.copyOf(checkpoints);
  }

  public Optional<LocalCheckpoint> newest() {
    return checkpoints.stream().max(Comparator.comparingLong(LocalCheckpoint::step));
  }

  public boolean has(RemoteCheckpoint remote) {
    return checkpoints.stream().anyMatch(one -> one.manifest().equals(remote.manifest()));
  }
}
