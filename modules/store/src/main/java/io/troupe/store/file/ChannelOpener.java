package io.troupe.store.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/** How files are opened for writing; the place where a test puts a disk that fails. */
@FunctionalInterface
public interface ChannelOpener {
  FileChannel open(Path file, OpenOption... options) throws IOException;
}
