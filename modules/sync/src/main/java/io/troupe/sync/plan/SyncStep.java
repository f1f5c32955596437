package io.troupe.sync.plan;

import io.troupe.sync.plan.FolderState.LocalCheckpoint;

/** One change of a copy, or nothing left to change. */
public sealed interface SyncStep {
  /**
   * Store bytes of a file as its piece of this index, in place of that piece and later ones.
   *
   * @param index of the piece in its file
   */
  record PutPiece(String path, int index, long offset, int bytes) implements SyncStep {}

  /** Replace the index. */
  record PutIndex(RemoteIndex index) implements SyncStep {}

  /**
   * Delete what no index names.
   *
   * @param key of an object, or of a folder of them if it ends with a slash
   */
  record Delete(String key) implements SyncStep {}

  /** Hold a checkpoint's files, whatever retention does, and begin with them. */
  record BeginCheckpoint(LocalCheckpoint checkpoint) implements SyncStep {}

  /** Store the next file of the checkpoint in one request. */
  record PutFile(CheckpointUpload upload) implements SyncStep {}

  /** Begin to store the next file in parts. */
  record BeginParts(CheckpointUpload upload) implements SyncStep {}

  /** Store a part of the next file. */
  record PutPart(CheckpointUpload upload, String id, int number, long offset, int bytes)
      implements SyncStep {}

  /** Make the object of its parts. */
  record CompleteParts(CheckpointUpload upload, CheckpointUpload.Parts parts) implements SyncStep {}

  /** All files are stored. */
  record Nothing() implements SyncStep {}
}
