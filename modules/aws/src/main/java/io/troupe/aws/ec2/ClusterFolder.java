package io.troupe.aws.ec2;

import io.troupe.base.files.AtomicFile;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The folder of what is remembered of clusters: a file for each, and a lock for who changes it. */
final class ClusterFolder {
  private static final String END = ".json";

  private final Path folder;

  ClusterFolder(Path folder) throws IOException {
    this.folder = folder;
    Files.createDirectories(folder);
  }

  /** What is remembered of a cluster. */
  Optional<ClusterRecord> read(String name) throws IOException {
    Path file = file(name);
    return Files.exists(file)
        ? Optional.of(StoreJson.LINE.readValue(Files.readString(file), ClusterRecord.class))
        : Optional.empty();
  }

  /** Everything that is remembered. */
  List<ClusterRecord> all() throws IOException {
    List<ClusterRecord> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(END)).sorted().toList()) {
        found.add(StoreJson.LINE.readValue(Files.readString(file), ClusterRecord.class));
      }
    }
    return found;
  }

  void write(ClusterRecord record) throws IOException {
    AtomicFile.replace(file(record.name()), StoreJson.PRETTY.writeValueAsString(record) + "\n");
  }

  void forget(String name) throws IOException {
    Files.deleteIfExists(file(name));
  }

  /**
   * Excludes other processes that would change the cluster, until it is closed.
   *
   * @throws IOException if one is under way
   */
  FileChannel lock(String name) throws IOException {
    FileChannel channel =
        FileChannel.open(
            folder.resolve(name + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      FileLock lock = channel.tryLock();
      if (lock != null) {
        return channel;
      }
    } catch (OverlappingFileLockException _) {
      // held within this process
    }
    channel.close();
    throw new IOException("another process changes cluster %s now; wait for it".formatted(name));
  }

  private Path file(String name) {
    return folder.resolve(name + END);
  }
}
