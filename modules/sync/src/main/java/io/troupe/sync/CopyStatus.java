package io.troupe.sync;

import io.troupe.store.folder.RunFolder;
import io.troupe.sync.plan.FolderState;
import io.troupe.sync.plan.RemoteIndex;
import io.troupe.sync.plan.SyncPlan;
import io.troupe.sync.plan.SyncState;
import io.troupe.sync.plan.UploadSizes;
import java.io.IOException;
import java.util.Optional;

/**
 * The files that a run's copy lacks of its folder, known from the folder alone: also after a crash,
 * and without the store.
 *
 * @param target place of the copy
 * @param objects files and checkpoints that are not stored as the folder has them
 * @param bytes of them that are not stored yet
 */
public record CopyStatus(String target, int objects, long bytes) {
  /** Returns the status of the copy that the folder has recorded; nothing if it has none. */
  public static Optional<CopyStatus> of(RunFolder folder) throws IOException {
    Optional<SyncState> state = new SyncFiles(folder).read();
    return state.isPresent() ? Optional.of(status(folder, state.get())) : Optional.empty();
  }

  /** Returns the status of a copy at a place, which need not have begun. */
  public static CopyStatus of(RunFolder folder, String target) throws IOException {
    SyncState state =
        new SyncFiles(folder)
            .read()
            .filter(known -> known.target().equals(target))
            .orElseGet(() -> SyncState.joining(target, "", "", RemoteIndex.empty(folder.name())));
    return status(folder, state);
  }

  private static CopyStatus status(RunFolder folder, SyncState known) throws IOException {
    FolderScan scan = new FolderScan(folder);
    FolderState seen = scan.look();
    SyncPlan.Backlog backlog =
        new SyncPlan(UploadSizes.S3).backlog(scan.corrected(known, seen), seen);
    return new CopyStatus(known.target(), backlog.objects(), backlog.bytes());
  }
}
