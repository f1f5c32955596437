package io.troupe.app;

import io.troupe.tasks.fetch.ObjectFolders;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Amazon S3, and what speaks its language. */
final class S3Folders implements ObjectFolders {
  @Override
  public List<String> names(String folder) throws IOException {
    throw new IOException(folder + ": S3 is not supported by this build");
  }

  @Override
  public void download(String address, Path file) throws IOException {
    throw new IOException(address + ": S3 is not supported by this build");
  }
}
