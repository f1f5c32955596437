package io.troupe.tasks.fetch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * An object store with one folder a split, named {@code <data set>_<split>}, as the {@code
 * datasets} library saves it or a folder of the cache was uploaded. Where the folder holds the
 * cache's marker, it must be whole by it: an upload may still go on.
 *
 * @param store that is read
 * @param root folder of the splits' folders, such as {@code s3://bucket/datasets}
 */
public record ObjectStoreOrigin(Store store, String root) implements DataOrigin {
  /** An object store, as far as data sets need it. */
  @FunctionalInterface
  public interface Store {
    /**
     * Downloads all objects of a folder.
     *
     * @return how many there are; 0 if there is no such folder
     * @throws IOException if the store cannot be reached, or an object did not come whole
     */
    int download(String folder, Path into) throws IOException;
  }

  @Override
  public String place(SplitRef wanted) {
    return "%s/%s_%s".formatted(root.replaceAll("/+$", ""), wanted.name(), wanted.split());
  }

  @Override
  public boolean fetch(SplitRef wanted, Path into) throws IOException {
    // The names within tell no split where the folder's name does.
    Path folder = Files.createDirectory(into.resolve(wanted.split()));
    if (store.download(place(wanted), folder) == 0) {
      return false;
    }
    if (Files.exists(folder.resolve(DataCache.MARKER))) {
      if (!DataCache.isWhole(folder)) {
        throw new IOException(
            "its files are not those of its %s; finish the upload".formatted(DataCache.MARKER));
      }
      Files.delete(folder.resolve(DataCache.MARKER));
    }
    return true;
  }
}
