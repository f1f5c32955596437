package io.troupe.sync;

import io.troupe.base.hash.Sha256;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.objects.ObjectStore;
import io.troupe.store.objects.ObjectStoreException;
import io.troupe.store.objects.PutCondition;
import io.troupe.sync.plan.CheckpointUpload;
import io.troupe.sync.plan.FolderState;
import io.troupe.sync.plan.Piece;
import io.troupe.sync.plan.RemoteIndex;
import io.troupe.sync.plan.SyncPlan;
import io.troupe.sync.plan.SyncState;
import io.troupe.sync.plan.SyncStep;
import io.troupe.sync.plan.UploadSizes;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Carries out the steps of a {@link SyncPlan}, one at a time. Each is safe to repeat: a process
 * that is killed between a step and the note of it does that one again. For one thread at a time.
 */
final class Uploader {
  private static final int MOST_LOOKS = 10;

  private final RunFolder folder;
  private final ObjectStore store;
  private final SyncFiles files;
  private final SyncPlan plan;
  private final FolderScan scan;
  private SyncState state;
  private final Set<String> broken = new HashSet<>();
  private FolderState seen = FolderState.EMPTY;
  private boolean checkpointAdvanced = true;

  private Uploader(
      RunFolder folder, ObjectStore store, SyncFiles files, UploadSizes sizes, SyncState state) {
    this.folder = folder;
    this.store = store;
    this.files = files;
    this.plan = new SyncPlan(sizes);
    this.scan = new FolderScan(folder);
    this.state = state;
  }

  /**
   * Continues a copy, or begins one.
   *
   * @param target place below which the store's keys are, as people write it
   * @param takeOver whether a copy that another folder writes becomes this folder's
   * @throws CopyTakenException if another folder writes it
   */
  static Uploader open(
      RunFolder folder, ObjectStore store, String target, UploadSizes sizes, boolean takeOver)
      throws IOException {
    SyncFiles files = new SyncFiles(folder);
    Optional<SyncState> known = files.read().filter(state -> state.target().equals(target));
    if (known.isPresent() && !takeOver) {
      return new Uploader(folder, store, files, sizes, known.get());
    }
    Optional<ObjectStore.Content> there = store.read(RemoteIndex.KEY);
    if (there.isPresent() && !takeOver) {
      throw new CopyTakenException(
          ("%s holds a copy that this folder has not written; choose another place, or take it"
                  + " over: troupe runs sync %s --take-over")
              .formatted(target, folder.path()));
    }
    RemoteIndex index =
        there.isPresent()
            ? RemoteIndex.parse(there.get().bytes(), target + RemoteIndex.KEY)
            : RemoteIndex.empty(folder.name());
    SyncState state =
        SyncState.joining(
            target, RunDownload.newWriter(), there.map(ObjectStore.Content::tag).orElse(""), index);
    files.write(state);
    return new Uploader(folder, store, files, sizes, state);
  }

  /**
   * Whether the last look has had its turn: everything it saw is stored, or a checkpoint advanced
   * after it. Files go before checkpoints, so a look that comes earlier, at files that grow faster
   * than the store takes them, would keep every checkpoint waiting for ever.
   */
  boolean isLookDue() {
    return checkpointAdvanced || plan.next(state, seen) instanceof SyncStep.Nothing;
  }

  /**
   * Looks at the folder: what has changed since is due from now on. A folder that changes during
   * the look is looked at again at once.
   *
   * @throws IOException if the folder changed during each look; what was seen before is still right
   */
  void look() throws IOException {
    for (int looks = 1; ; looks++) {
      try {
        FolderState now = scan.look();
        state = scan.corrected(state, now);
        seen =
            new FolderState(
                now.files(),
                now.checkpoints().stream()
                    .filter(one -> !broken.contains(one.manifest()))
                    .toList());
        checkpointAdvanced = false;
        return;
      } catch (NoSuchFileException | EOFException changing) {
        scan.forget();
        if (looks == MOST_LOOKS) {
          throw new IOException(
              "%s changed during each of %d looks, the last time %s; the copy waits and looks again"
                  .formatted(folder.path(), looks, changing.getMessage()),
              changing);
        }
      }
    }
  }

  /** Returns the files that were seen and are not stored yet. */
  SyncPlan.Backlog backlog() {
    return plan.backlog(state, seen);
  }

  SyncState state() {
    return state;
  }

  /**
   * Does what is next.
   *
   * @return bytes that were sent; -1 if nothing is left to do
   * @throws ObjectStoreException if the store did not do it; the step is still next
   * @throws CopyTakenException if another folder writes the copy
   */
  long step() throws IOException {
    try {
      return take(plan.next(state, seen));
    } catch (NoSuchFileException | EOFException changed) {
      look();
      return 0;
    }
  }

  private long take(SyncStep step) throws IOException {
    checkpointAdvanced |=
        step instanceof SyncStep.PutFile
            || step instanceof SyncStep.PutPart
            || step instanceof SyncStep.CompleteParts;
    return switch (step) {
      case SyncStep.PutPiece piece -> put(piece);
      case SyncStep.PutIndex(RemoteIndex index) -> put(index);
      case SyncStep.Delete(String key) -> delete(key);
      case SyncStep.BeginCheckpoint(FolderState.LocalCheckpoint checkpoint) -> begin(checkpoint);
      case SyncStep.PutFile(CheckpointUpload upload) -> putFile(upload);
      case SyncStep.BeginParts(CheckpointUpload upload) -> beginParts(upload);
      case SyncStep.PutPart part -> putPart(part);
      case SyncStep.CompleteParts(CheckpointUpload upload, CheckpointUpload.Parts parts) ->
          complete(upload, parts);
      case SyncStep.Nothing() -> -1;
    };
  }

  private void now(SyncState next) throws IOException {
    files.write(next);
    state = next;
  }

  private long put(SyncStep.PutPiece step) throws IOException {
    byte[] content =
        FolderScan.read(folder.path().resolve(step.path()), step.offset(), step.bytes());
    Piece piece = new Piece(content.length, Sha256.hex(content));
    String key = piece.key(step.path(), step.offset());
    SyncState storing = state.storing(key);
    if (!storing.equals(state)) {
      now(storing);
    }
    store.put(key, content, new PutCondition.Always());
    now(state.pieceStored(step.path(), step.index(), piece));
    return content.length;
  }

  /** Asked first, because not every store knows conditions. */
  private long put(RemoteIndex index) throws IOException {
    Optional<ObjectStore.Content> there = store.read(RemoteIndex.KEY);
    if (there.isPresent() && !there.get().tag().equals(state.tag())) {
      return adopt(there.get());
    }
    byte[] json = index.json();
    PutCondition condition =
        there.isPresent() ? new PutCondition.Tagged(there.get().tag()) : new PutCondition.Absent();
    try {
      now(state.indexStored(index, store.put(RemoteIndex.KEY, json, condition)));
    } catch (ObjectStoreException failure) {
      if (failure.kind() != ObjectStoreException.Kind.CONFLICT) {
        throw failure;
      }
      return adopt(
          store
              .read(RemoteIndex.KEY)
              .orElseThrow(() -> failure)); // An answer that was lost, or another writer.
    }
    return json.length;
  }

  private long adopt(ObjectStore.Content there) throws IOException {
    RemoteIndex found = RemoteIndex.parse(there.bytes(), state.target() + RemoteIndex.KEY);
    if (!found.writer().equals(state.writer())) {
      throw new CopyTakenException(
          ("another run folder writes %s (revision %d); this one stores nothing more. To continue"
                  + " here, stop the other run: troupe runs sync %s --take-over")
              .formatted(state.target(), found.revision(), folder.path()));
    }
    now(state.indexFound(found, there.tag()));
    return 0;
  }

  private long delete(String key) throws IOException {
    if (key.endsWith("/")) {
      List<ObjectStore.Entry> entries = store.list(key);
      // The manifest first: without it, the other files are no checkpoint.
      for (ObjectStore.Entry entry :
          entries.stream()
              .sorted(Comparator.comparing(one -> !one.key().endsWith("/manifest.json")))
              .toList()) {
        store.delete(entry.key());
      }
    } else {
      store.delete(key);
    }
    now(state.deleted(key));
    return 0;
  }

  private long begin(FolderState.LocalCheckpoint checkpoint) throws IOException {
    Optional<CheckpointUpload> upload = files.hold(checkpoint, state.writer());
    if (upload.isPresent()) {
      now(state.uploading(upload.get()));
    } else {
      look();
    }
    return 0;
  }

  private long putFile(CheckpointUpload upload) throws IOException {
    Path file = files.file(upload, upload.next());
    if (!isWhole(upload, file)) {
      return abandon(upload, file);
    }
    byte[] content = FolderScan.read(file, 0, (int) upload.next().bytes());
    if (!Sha256.hex(content).equals(upload.next().sha256())) {
      return abandon(upload, file);
    }
    store.put(upload.nextKey(), content, new PutCondition.Always());
    return stored(upload, content.length);
  }

  private long beginParts(CheckpointUpload upload) throws IOException {
    Path file = files.file(upload, upload.next());
    if (!isWhole(upload, file) || !Sha256.hex(file).equals(upload.next().sha256())) {
      return abandon(upload, file);
    }
    now(state.uploading(upload.partsBegun(store.beginUpload(upload.nextKey()))));
    return 0;
  }

  private static boolean isWhole(CheckpointUpload upload, Path file) throws IOException {
    return Files.isRegularFile(file) && Files.size(file) == upload.next().bytes();
  }

  private long putPart(SyncStep.PutPart step) throws IOException {
    CheckpointUpload upload = step.upload();
    Path file = files.file(upload, upload.next());
    if (!isWhole(upload, file)) {
      store.abortUpload(upload.nextKey(), step.id());
      return abandon(upload, file);
    }
    byte[] content = FolderScan.read(file, step.offset(), step.bytes());
    try {
      ObjectStore.PartTag tag = store.putPart(upload.nextKey(), step.id(), step.number(), content);
      now(state.uploading(upload.partStored(tag)));
    } catch (ObjectStoreException failure) {
      return again(upload, failure);
    }
    return content.length;
  }

  private long complete(CheckpointUpload upload, CheckpointUpload.Parts parts) throws IOException {
    try {
      store.completeUpload(upload.nextKey(), parts.id(), parts.tags());
    } catch (ObjectStoreException failure) {
      if (failure.kind() != ObjectStoreException.Kind.ABSENT
          || !store.size(upload.nextKey()).equals(Optional.of(upload.next().bytes()))) {
        return again(upload, failure);
      }
      // The upload was completed, and the answer was lost.
    }
    return stored(upload, 0);
  }

  /** Parts that the store does not know any more are stored again. */
  private long again(CheckpointUpload upload, ObjectStoreException failure) throws IOException {
    if (failure.kind() != ObjectStoreException.Kind.ABSENT) {
      throw failure;
    }
    now(state.uploading(upload.withoutParts()));
    return 0;
  }

  private long stored(CheckpointUpload upload, long bytes) throws IOException {
    CheckpointUpload next = upload.fileStored();
    now(state.uploading(next));
    if (next.complete()) {
      files.release();
      look();
    }
    return bytes;
  }

  /** The files are not what the manifest says: the checkpoint is broken, or its links are gone. */
  private long abandon(CheckpointUpload upload, Path file) throws IOException {
    if (Files.exists(file)) {
      broken.add(upload.checkpoint().manifest());
    }
    now(state.abandoned());
    files.release();
    look();
    return 0;
  }
}
