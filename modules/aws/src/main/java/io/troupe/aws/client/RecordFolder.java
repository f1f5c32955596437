package io.troupe.aws.client;

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
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The folder of what is remembered of things that were made: a file for each, and a lock for who
 * changes it.
 *
 * @param <T> type of the records, as StoreJson reads and writes it
 */
public final class RecordFolder<T> {
  private static final String END = ".json";

  private final Path folder;
  private final Class<T> type;
  private final Function<T, String> name;

  /**
   * A folder, which is made if it is not there.
   *
   * @param name of a record
   */
  public RecordFolder(Path folder, Class<T> type, Function<T, String> name) throws IOException {
    this.folder = folder;
    this.type = type;
    this.name = name;
    Files.createDirectories(folder);
  }

  /** Returns the record of a name. */
  public Optional<T> read(String key) throws IOException {
    Path file = file(key);
    return Files.exists(file)
        ? Optional.of(StoreJson.LINE.readValue(Files.readString(file), type))
        : Optional.empty();
  }

  /** Returns every record of the folder. */
  public List<T> all() throws IOException {
    List<T> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(END)).sorted().toList()) {
        found.add(StoreJson.LINE.readValue(Files.readString(file), type));
      }
    }
    return found;
  }

  /** Durable when the call returns. */
  public void write(T record) throws IOException {
    AtomicFile.replace(
        file(name.apply(record)), StoreJson.PRETTY.writeValueAsString(record) + "\n");
  }

  /** Deletes the record of a name, if there is one. */
  public void forget(String key) throws IOException {
    Files.deleteIfExists(file(key));
  }

  /**
   * Excludes other processes that would change what has the name, until it is closed.
   *
   * @throws IOException if one is under way
   */
  public FileChannel lock(String key) throws IOException {
    FileChannel channel =
        FileChannel.open(
            folder.resolve(key + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      FileLock lock = channel.tryLock();
      if (lock != null) {
        return channel;
      }
    } catch (OverlappingFileLockException _) {
      // held within this process
    }
    channel.close();
    throw new IOException("another process changes %s now; wait for it".formatted(key));
  }

  private Path file(String key) {
    return folder.resolve(key + END);
  }
}
