package io.troupe.sync.plan;

import io.troupe.store.objects.ObjectStore.PartTag;
import java.util.ArrayList;
import java.util.List;

/**
 * A checkpoint on its way to the store.
 *
 * @param files in the order in which they go; the manifest is the last
 * @param done number of stored files
 * @param parts of the next file, if it goes in parts and has begun: at most one element
 */
public record CheckpointUpload(
    RemoteCheckpoint checkpoint, List<Item> files, int done, List<Parts> parts) {
  /** A file of the checkpoint. */
  public record Item(String path, long bytes, String sha256) {}

  /**
   * A file that is stored in parts.
   *
   * @param id of the upload
   * @param tags of the parts that are stored, in order
   */
  public record Parts(String id, List<PartTag> tags) {
    public Parts {
      tags = List.copyOf(tags);
    }
  }

  public CheckpointUpload {
    files = List.copyOf(files);
    parts = List.copyOf(parts);
  }

  /** Whether every file is stored. */
  public boolean complete() {
    return done == files.size();
  }

  /** Returns the file that is stored next. */
  public Item next() {
    return files.get(done);
  }

  /** Returns the key of the file that is stored next. */
  public String nextKey() {
    return checkpoint.folder() + next().path();
  }

  /** Notes that the next file is stored whole. */
  public CheckpointUpload fileStored() {
    return new CheckpointUpload(checkpoint, files, done + 1, List.of());
  }

  /** Notes the store's id of an upload in parts. */
  public CheckpointUpload partsBegun(String id) {
    return new CheckpointUpload(checkpoint, files, done, List.of(new Parts(id, List.of())));
  }

  /** Notes a part that is stored, by the store's tag. */
  public CheckpointUpload partStored(PartTag tag) {
    Parts current = parts.getFirst();
    List<PartTag> tags = new ArrayList<>(current.tags());
    tags.add(tag);
    return new CheckpointUpload(checkpoint, files, done, List.of(new Parts(current.id(), tags)));
  }

  /** Returns this upload, where the parts of the next file are to be stored again. */
  public CheckpointUpload withoutParts() {
    return new CheckpointUpload(checkpoint, files, done, List.of());
  }

  /** Returns the number of bytes that are not stored yet. */
  long bytesLeft(UploadSizes sizes) {
    long left = files.stream().skip(done).mapToLong(Item::bytes).sum();
    return parts.isEmpty()
        ? left
        : left
            - Math.min(
                next().bytes(), parts.getFirst().tags().size() * sizes.partOf(next().bytes()));
  }
}
