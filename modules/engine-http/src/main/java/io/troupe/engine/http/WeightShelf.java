package io.troupe.engine.http;

import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.protocol.WeightTag;
import io.troupe.engine.safetensors.ModelFiles;
import io.troupe.engine.safetensors.StoredTensor;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder with the newest weights, a directory each, for servers of this host to read. A directory
 * appears whole, by renaming, and its name is its tag: no name ever means other weights. The two
 * newest are kept, so that a server that reads one is not robbed of it by the next.
 */
public final class WeightShelf {
  private static final int KEPT = 2;

  private final Path folder;
  private final Companions companions;
  private final Deque<Path> shelved = new ArrayDeque<>();

  /** Files that a server wants beside the tensors, such as config.json. */
  @FunctionalInterface
  public interface Companions {
    /** Writes them into a directory. */
    void write(Path directory) throws IOException;
  }

  /** An empty shelf; what another process left in the folder is removed. */
  public static WeightShelf open(Path folder, Companions companions) throws IOException {
    Files.createDirectories(folder);
    try (Stream<Path> left = Files.list(folder)) {
      for (Path directory : left.toList()) {
        remove(directory);
      }
    }
    return new WeightShelf(folder.toAbsolutePath(), companions);
  }

  private WeightShelf(Path folder, Companions companions) {
    this.folder = folder;
    this.companions = companions;
  }

  /** Writes weights; returns their directory. */
  synchronized Path put(WeightSnapshot snapshot) throws IOException {
    String name = WeightTag.of(snapshot.version(), snapshot.digest()).toString();
    Path directory = folder.resolve(name);
    if (Files.isDirectory(directory)) {
      return directory;
    }
    Path partial = folder.resolve(name + ".partial");
    try {
      Files.createDirectory(partial);
    } catch (FileAlreadyExistsException leftover) {
      remove(partial);
      Files.createDirectory(partial);
    }
    List<StoredTensor> tensors = snapshot.tensors().stream().map(StoredTensor::of).toList();
    ModelFiles.write(partial, tensors, ModelFiles.DEFAULT_SHARD_BYTES);
    companions.write(partial);
    Files.move(partial, directory, StandardCopyOption.ATOMIC_MOVE);
    shelved.addLast(directory);
    while (shelved.size() > KEPT) {
      remove(shelved.removeFirst());
    }
    return directory;
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (NoSuchFileException gone) {
      return;
    }
  }
}
