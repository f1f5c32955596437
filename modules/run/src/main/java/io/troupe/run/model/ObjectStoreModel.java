package io.troupe.run.model;

import io.troupe.base.cache.CompletionMarker;
import io.troupe.store.s3.S3Folders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A model in a folder of an object store. If the folder holds the cache's marker, its files must
 * match the marker, because an upload may be in progress.
 *
 * @param store to read
 * @param place of the folder, {@code s3://bucket/prefix}
 */
record ObjectStoreModel(S3Folders store, String place) implements ModelOrigin {
  @Override
  public String key() {
    return "s3";
  }

  @Override
  public boolean fetch(Path into, Part part) throws IOException {
    if (store.download(place, into, part::has) == 0) {
      return false;
    }
    Path marker = into.resolve(CompletionMarker.NAME);
    if (part == Part.ALL && Files.exists(marker) && !CompletionMarker.isWhole(into)) {
      Files.delete(marker);
      throw new IOException(
          "its files are not those of its %s; finish the upload".formatted(CompletionMarker.NAME));
    }
    Files.deleteIfExists(marker);
    if (!Files.exists(into.resolve("config.json"))) {
      throw new IOException("it has no config.json; name the folder that has the model's files");
    }
    return true;
  }
}
