package io.troupe.sync.plan;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A run folder's knowledge of its copy: {@code sync/state.json}, replaced after each step, so that
 * a process that continues repeats at most one.
 *
 * @param format 1
 * @param target place of the copy: {@code s3://bucket/prefix/RUN/}
 * @param writer this folder's word in the index
 * @param tag of the index that the store acknowledged; "" before the first
 * @param index that the store acknowledged
 * @param files as they are stored, which the index may not name yet
 * @param checkpoints that are stored whole, which the index may not name yet
 * @param rest a checkpoint on its way, and what is to be deleted
 */
public record SyncState(
    int format,
    String target,
    String writer,
    String tag,
    RemoteIndex index,
    List<RemoteFile> files,
    List<RemoteCheckpoint> checkpoints,
    Rest rest) {
  static final int FORMAT = 1;

  /**
   * The parts of the state that the index does not show.
   *
   * @param uploads the checkpoint on its way: at most one
   * @param garbage keys that no index names any more
   */
  record Rest(List<CheckpointUpload> uploads, List<String> garbage) {
    static final Rest NONE = new Rest(List.of(), List.of());

    Rest {
      uploads = List.copyOf(uploads);
      garbage = List.copyOf(garbage);
    }
  }

  public SyncState {
    files = List.copyOf(files);
    checkpoints = List.copyOf(checkpoints);
  }

  /** The state of a folder that is to become the writer of a copy, which may hold something. */
  public static SyncState joining(String target, String writer, String tag, RemoteIndex index) {
    return new SyncState(
        FORMAT, target, writer, tag, index, index.files(), index.checkpoints(), Rest.NONE);
  }

  public Optional<CheckpointUpload> upload() {
    return rest.uploads().stream().findFirst();
  }

  /** The pieces that are stored of a file, in order. */
  public List<Piece> pieces(String path) {
    return files.stream()
        .filter(file -> file.path().equals(path))
        .findFirst()
        .map(RemoteFile::pieces)
        .orElse(List.of());
  }

  /** A file begins with the first of its stored pieces only: it was cut, or is another one. */
  public SyncState cut(String path, int intact) {
    RemoteFile after = new RemoteFile(path, pieces(path).subList(0, intact));
    return replaced(new RemoteFile(path, pieces(path)), after);
  }

  /** Whether a checkpoint with this manifest is in the copy. */
  public boolean has(String manifest) {
    return checkpoints.stream().anyMatch(one -> one.manifest().equals(manifest));
  }

  /**
   * Notes a piece that is about to be stored: until it is noted as stored, it is to be deleted, so
   * that a process that ends in between leaves no object behind without a record.
   */
  public SyncState storing(String key) {
    if (index.keys().contains(key) || rest.garbage().contains(key)) {
      return this;
    }
    List<String> garbage = new ArrayList<>(rest.garbage());
    garbage.add(key);
    return with(files, checkpoints, new Rest(rest.uploads(), garbage));
  }

  /** A piece is stored, in place of the piece of its index and later ones. */
  public SyncState pieceStored(String path, int index, Piece piece) {
    RemoteFile before = new RemoteFile(path, pieces(path));
    return replaced(before, before.with(index, piece));
  }

  private SyncState replaced(RemoteFile before, RemoteFile after) {
    List<RemoteFile> all = new ArrayList<>(files);
    all.removeIf(file -> file.path().equals(before.path()));
    if (!after.pieces().isEmpty()) {
      all.add(after);
    }
    Set<String> superseded = new LinkedHashSet<>(before.keys());
    superseded.removeAll(index.keys()); // Those go once the next index is stored.
    Set<String> garbage = new LinkedHashSet<>(rest.garbage());
    garbage.addAll(superseded);
    after.keys().forEach(garbage::remove);
    return with(all, checkpoints, new Rest(rest.uploads(), List.copyOf(garbage)));
  }

  /** Notes that an index is stored: objects that only the index before named are to be deleted. */
  public SyncState indexStored(RemoteIndex next, String nextTag) {
    Set<String> garbage = new LinkedHashSet<>(rest.garbage());
    garbage.addAll(index.keys());
    files.forEach(file -> file.addKeys(garbage));
    garbage.removeAll(next.keys());
    return new SyncState(
        FORMAT,
        target,
        writer,
        nextTag,
        next,
        next.files(),
        next.checkpoints(),
        new Rest(rest.uploads(), List.copyOf(garbage)));
  }

  /**
   * The store holds this folder's index, whose acknowledgement was lost; the folder may have
   * changed since.
   */
  public SyncState indexFound(RemoteIndex found, String foundTag) {
    Set<String> garbage = new LinkedHashSet<>(rest.garbage());
    garbage.addAll(index.keys());
    garbage.removeAll(found.keys());
    files.forEach(file -> file.keys().forEach(garbage::remove));
    checkpoints.forEach(one -> garbage.remove(one.folder()));
    return new SyncState(
        FORMAT,
        target,
        writer,
        foundTag,
        found,
        files,
        checkpoints,
        new Rest(rest.uploads(), List.copyOf(garbage)));
  }

  /** Notes that an object is deleted. */
  public SyncState deleted(String key) {
    List<String> garbage = new ArrayList<>(rest.garbage());
    garbage.remove(key);
    return with(files, checkpoints, new Rest(rest.uploads(), garbage));
  }

  /** A checkpoint begins or has come further; a complete one is among the stored. */
  public SyncState uploading(CheckpointUpload upload) {
    if (!upload.complete()) {
      return with(files, checkpoints, new Rest(List.of(upload), rest.garbage()));
    }
    List<RemoteCheckpoint> all = new ArrayList<>(checkpoints);
    Set<String> garbage = new LinkedHashSet<>(rest.garbage());
    for (RemoteCheckpoint one : checkpoints) {
      if (one.step() == upload.checkpoint().step()) { // A step that was made again.
        all.remove(one);
        if (!index.keys().contains(one.folder())) {
          garbage.add(one.folder());
        }
      }
    }
    all.add(upload.checkpoint());
    garbage.remove(upload.checkpoint().folder());
    return with(files, all, new Rest(List.of(), List.copyOf(garbage)));
  }

  /** The checkpoint on its way is given up; what is stored of it is to be deleted. */
  public SyncState abandoned() {
    List<String> garbage = new ArrayList<>(rest.garbage());
    upload().ifPresent(upload -> garbage.add(upload.checkpoint().folder()));
    return with(files, checkpoints, new Rest(List.of(), garbage));
  }

  private SyncState with(List<RemoteFile> all, List<RemoteCheckpoint> whole, Rest next) {
    return new SyncState(FORMAT, target, writer, tag, index, all, whole, next);
  }
}
