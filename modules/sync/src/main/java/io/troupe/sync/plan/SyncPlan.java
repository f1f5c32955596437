package io.troupe.sync.plan;

import io.troupe.sync.plan.FolderState.LocalCheckpoint;
import io.troupe.sync.plan.FolderState.LocalFile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Decides what is stored next of a run folder.
 *
 * <p>Files come before the index that names them, an index before the deletion of what only its
 * predecessor named, and the journal before the checkpoint whose position it must hold: a
 * checkpoint begins when everything is stored that the folder held when it was seen. The newest
 * checkpoint goes first; of older ones only those that are kept for ever. So a link that is slower
 * than the trainer skips checkpoints, and never works on one that is long surpassed.
 */
public final class SyncPlan {
  private final UploadSizes sizes;

  public SyncPlan(UploadSizes sizes) {
    this.sizes = sizes;
  }

  /**
   * The files and bytes that are not stored yet.
   *
   * @param objects files and checkpoints
   */
  public record Backlog(int objects, long bytes) {
    public static final Backlog NONE = new Backlog(0, 0);
  }

  /** The next step. */
  public SyncStep next(SyncState state, FolderState folder) {
    for (LocalFile file : folder.files()) {
      Optional<SyncStep> piece = piece(state, file);
      if (piece.isPresent()) {
        return piece.get();
      }
    }
    RemoteIndex index = index(state, folder);
    if (!index.saysTheSame(state.index())) {
      return new SyncStep.PutIndex(index);
    }
    if (!state.rest().garbage().isEmpty()) {
      return new SyncStep.Delete(state.rest().garbage().getFirst());
    }
    if (state.upload().isPresent()) {
      return upload(state.upload().get());
    }
    Optional<LocalCheckpoint> due = due(state, folder);
    return due.isPresent() ? new SyncStep.BeginCheckpoint(due.get()) : new SyncStep.Nothing();
  }

  /** Returns the files that a folder has and its copy lacks. */
  public Backlog backlog(SyncState state, FolderState folder) {
    int objects = 0;
    long bytes = 0;
    for (LocalFile file : folder.files()) {
      if (piece(state, file).isPresent()) {
        objects++;
        bytes += file.bytes() - full(state.pieces(file.path())) * sizes.piece();
      }
    }
    Optional<LocalCheckpoint> due = due(state, folder);
    if (state.upload().isPresent()) {
      objects++;
      bytes += state.upload().get().bytesLeft(sizes);
    } else if (due.isPresent()) {
      objects++;
      bytes += due.get().bytes();
    }
    return new Backlog(objects, bytes);
  }

  private Optional<SyncStep> piece(SyncState state, LocalFile file) {
    List<Piece> stored = state.pieces(file.path());
    if (!stored.isEmpty() && stored.stream().mapToLong(Piece::bytes).sum() == file.bytes()) {
      return Optional.empty();
    }
    int full = full(stored);
    long offset = full * sizes.piece();
    return Optional.of(
        new SyncStep.PutPiece(
            file.path(), full, offset, (int) Math.min(sizes.piece(), file.bytes() - offset)));
  }

  /**
   * Returns the number of pieces, from the first on, that are stored for good: a shorter piece is
   * replaced.
   */
  private int full(List<Piece> stored) {
    int full = 0;
    while (full < stored.size() && stored.get(full).bytes() == sizes.piece()) {
      full++;
    }
    return full;
  }

  private RemoteIndex index(SyncState state, FolderState folder) {
    List<RemoteFile> files = new ArrayList<>();
    for (LocalFile file : folder.files()) {
      List<Piece> pieces = state.pieces(file.path());
      if (!pieces.isEmpty()) {
        files.add(new RemoteFile(file.path(), pieces));
      }
    }
    files.sort(Comparator.comparing(RemoteFile::path));
    List<RemoteCheckpoint> checkpoints = new ArrayList<>(state.checkpoints());
    long newest = checkpoints.stream().mapToLong(RemoteCheckpoint::step).max().orElse(-1);
    checkpoints.removeIf(
        one -> one.step() != newest && one.writer().equals(state.writer()) && !folder.has(one));
    checkpoints.sort(Comparator.comparingLong(RemoteCheckpoint::step));
    return new RemoteIndex(
        RemoteIndex.FORMAT,
        state.index().run(),
        state.writer(),
        state.index().revision() + 1,
        files,
        checkpoints);
  }

  private static Optional<LocalCheckpoint> due(SyncState state, FolderState folder) {
    Optional<LocalCheckpoint> newest = folder.newest();
    if (newest.isPresent() && !state.has(newest.get().manifest())) {
      return newest;
    }
    return folder.checkpoints().stream()
        .filter(one -> one.kept() && !state.has(one.manifest()))
        .max(Comparator.comparingLong(LocalCheckpoint::step));
  }

  private SyncStep upload(CheckpointUpload upload) {
    long bytes = upload.next().bytes();
    if (bytes <= sizes.piece()) {
      return new SyncStep.PutFile(upload);
    }
    if (upload.parts().isEmpty()) {
      return new SyncStep.BeginParts(upload);
    }
    CheckpointUpload.Parts parts = upload.parts().getFirst();
    long part = sizes.partOf(bytes);
    long offset = parts.tags().size() * part;
    return offset >= bytes
        ? new SyncStep.CompleteParts(upload, parts)
        : new SyncStep.PutPart(
            upload,
            parts.id(),
            parts.tags().size() + 1,
            offset,
            (int) Math.min(part, bytes - offset));
  }
}
