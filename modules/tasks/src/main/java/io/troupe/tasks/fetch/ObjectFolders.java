package io.troupe.tasks.fetch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** An object store, as far as data sets need it. */
public interface ObjectFolders {
  /**
   * The objects of a folder.
   *
   * @param folder an address that ends with a slash: {@code s3://bucket/prefix/}
   * @return their names behind it
   */
  List<String> names(String folder) throws IOException;

  /** Writes an object into a file that does not exist yet, and checks that it is whole. */
  void download(String address, Path file) throws IOException;
}
