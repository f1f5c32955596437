package io.troupe.ranks.protocol;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A folder of the coordinator's with a file by which a rank knows it: a folder of the same name on
 * another host is another one, unless the hosts share it.
 */
public record MarkedFolder(Path folder, String mark) implements AutoCloseable {
  /** Puts a mark into a folder. */
  public static MarkedFolder of(Path folder) throws IOException {
    Path absolute = folder.toAbsolutePath().normalize();
    Path mark = Files.createTempFile(absolute, ".seen-", "");
    return new MarkedFolder(absolute, mark.getFileName().toString());
  }

  /** Whether a folder of this host is the marked one. */
  public static boolean isHere(String folder, String mark) {
    return Files.exists(Path.of(folder).resolve(mark));
  }

  public String name() {
    return folder.toString();
  }

  /** Takes the mark away. */
  @Override
  public void close() throws IOException {
    Files.deleteIfExists(folder.resolve(mark));
  }
}
