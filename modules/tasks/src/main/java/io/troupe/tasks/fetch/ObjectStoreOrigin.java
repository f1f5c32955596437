package io.troupe.tasks.fetch;

import io.troupe.base.cache.CompletionMarker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * An object store with one folder a split, named {@code <data set>_<split>}, as the {@code
 * datasets} library saves it, or as an upload of a folder of the cache. If the folder holds the
 * cache's marker, its files must match the marker, because an upload may be in progress.
 *
 * @param store to read
 * @param root folder of the splits' folders, such as {@code s3://bucket/datasets}
 */
public record ObjectStoreOrigin(Store store, String root) implements DataOrigin {
  /** The operation of an object store that data sets need. */
  @FunctionalInterface
  public interface Store {
    /**
     * Downloads all objects of a folder.
     *
     * @return the number of objects; 0 if the folder does not exist
     * @throws IOException if the store cannot be reached, or an object is not whole
     */
    int download(String folder, Path into) throws IOException;
  }

  @Override
  public String place(SplitRef wanted) {
    return "%s/%s_%s".formatted(root.replaceAll("/+$", ""), wanted.name(), wanted.split());
  }

  @Override
  public boolean fetch(SplitRef wanted, Path into) throws IOException {
    // File names need not contain the split, because the name of the folder does.
    Path folder = Files.createDirectory(into.resolve(wanted.split()));
    if (store.download(place(wanted), folder) == 0) {
      return false;
    }
    if (Files.exists(folder.resolve(CompletionMarker.NAME))) {
      if (!CompletionMarker.isWhole(folder)) {
        throw new IOException(
            "its files are not those of its %s; finish the upload"
                .formatted(CompletionMarker.NAME));
      }
      Files.delete(folder.resolve(CompletionMarker.NAME));
    }
    return true;
  }
}
