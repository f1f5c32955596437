package io.troupe.store.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/** The opener of files for writing; a test puts a disk that fails in its place. */
@FunctionalInterface
public interface ChannelOpener {
  FileChannel open(Path file, OpenOption... options) throws IOException;
}
